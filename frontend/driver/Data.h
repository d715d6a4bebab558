// --data, --valid and the model file's data(..), as data sets.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "executor/base/ScratchFile.h"
#include "executor/data/DataSet.h"
#include "executor/package/PackageData.h"
#include "frontend/driver/Request.h"

namespace lstmc::driver {

/// What data are read for.
struct DataUse {
  std::string_view job;    ///< "train", for messages
  bool trains = false;     ///< a share of them, or others, are to validate on
  bool unlabelled = false; ///< labels are not read
};

struct ModelData {
  std::vector<ScratchFile> received;    ///< what rank 0 has sent, which the others read
  std::unique_ptr<data::DataSet> data;  ///< of --data, else of data(train=)
  std::unique_ptr<data::DataSet> valid; ///< of --valid or data(valid=) where that is a SPEC
  std::optional<data::Vocabulary> vocabulary;
  std::string remark; ///< of data that weights are measured on: that they are read by a vocabulary
                      ///< or scaling of their own, which are not those of the training
};

/// Who names data that the user has not typed.
struct DataNamer {
  std::string path;   ///< a file, in whose folder they lie or in one of --allow-data
  std::string digest; ///< of a checkpoint: that of the data that it was trained on; they may lie
                      ///< anywhere
};

/// The keys of data(..) that say how the table of `source`, a SPEC, is read, so that another table
/// is read in the same way; none for other kinds of data, or where --data is of another kind.
std::vector<package::Setting> tableKeys(const std::string &source, const DataOptions &options);

/// Reads the data. `file` are the settings of data(..), which flags override value by value, and
/// `namer` the file that they stand in. `learned` is what a checkpoint keeps. E0604 for a path in
/// `file` that leads out of its folders, E0610 for other data than a checkpoint's.
Result<ModelData> loadData(const CompileRequest &options, const DataUse &use,
                           const std::vector<package::Setting> &file, const DataNamer &namer,
                           const data::Learned *learned);

} // namespace lstmc::driver
