// The two files that `diff` compares, whatever kind they are: tensors and facts by name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "executor/data/Array.h"
#include "executor/package/PackageData.h"
#include "frontend/cli/Options.h"

namespace lstmc::cli {

/// Something with a name that can be compared: a tensor, or of a package what it says there.
struct DiffItem {
  std::string name;
  std::optional<data::Array> tensor;
  std::string fact;           ///< where it is no tensor
  package::Location location; ///< line 0: not known
};

struct DiffSide {
  std::string path;
  std::vector<DiffItem> items; ///< in the order of the file, names unique
};

/// A checkpoint folder (weights, `optimizer/...`, `states/...`), a package (what it says, and the
/// weights of F.safetensors beside F.lstmc), a file of arrays (data/ArrayFile.h) or .npy. E0613 for
/// anything else, and what the loaders say.
Result<DiffSide> diffSide(const std::string &path, const Options &options);

} // namespace lstmc::cli
