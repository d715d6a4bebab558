// --data, --valid and the model file's data(..), as data sets.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "executor/data/DataSet.h"
#include "executor/package/PackageData.h"
#include "frontend/cli/Options.h"

namespace lstmc::cli {

struct ModelData {
  std::unique_ptr<data::DataSet> data;  ///< of --data, else of data(train=)
  std::unique_ptr<data::DataSet> valid; ///< of --valid or data(valid=) where that is a SPEC
  std::optional<data::Vocabulary> vocabulary;
};

/// Reads the data. `file` are the settings of data(..), which flags override value by value;
/// `modelPath` is the file that they stand in, beside which their paths are looked for too.
/// `learned` is what a checkpoint keeps.
Result<ModelData> loadData(const Options &options, const std::vector<package::Setting> &file,
                           const std::string &modelPath, const data::Learned *learned);

} // namespace lstmc::cli
