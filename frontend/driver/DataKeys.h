// --data over the keys of data(..) in the model file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "executor/data/DataSpec.h"
#include "executor/package/PackageData.h"
#include "frontend/driver/Request.h"

namespace lstmc::driver {

/// Whether a value of `valid` is a share of the data, and no SPEC.
bool isNumber(const std::string &text);

/// Whether the keys of data(..) are for data of the kind of `text`.
bool isKindOfFile(const std::string &text, const std::optional<std::string> &train);

/// `text` with those keys of data(..) that it does not set itself; `valid` only if a share of these
/// data is to be kept for validation.
Result<data::DataSpec> withFileKeys(const std::string &text,
                                    const std::vector<package::Setting> &file, bool sameKind,
                                    bool keepsShare);

/// buckets= of --data, else of data(..), ascending; none where there are none, and where a value is
/// wrong, which reading the data reports.
std::vector<int64_t> bucketsAsked(const DataOptions &options,
                                  const std::vector<package::Setting> &file);

} // namespace lstmc::driver
