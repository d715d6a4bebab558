// --data-on rank0: files that one rank has, for all.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "executor/base/Limits.h"
#include "executor/base/ScratchFile.h"
#include "executor/data/DataSet.h"
#include "frontend/driver/Request.h"

namespace lstmc::driver {

/// A folder that is gone when this object is.
class PassingFolder {
public:
  explicit PassingFolder(std::string path) : path_(std::move(path)) {}
  PassingFolder(PassingFolder &&) = delete;
  ~PassingFolder();
  const std::string &path() const { return path_; }

private:
  std::string path_;
};

/// DataSet::load(). With --data-on rank0, rank 0 reads the files that `spec` names and sends them;
/// the other ranks read what came, which `kept` holds for as long as the data are used. All ranks
/// call it alike.
Result<std::unique_ptr<data::DataSet>> loadForRanks(const DataOptions &options, data::DataSpec spec,
                                                    const data::Learned *learned,
                                                    const Limits &limits,
                                                    std::vector<ScratchFile> &kept);

/// With --data-on rank0, the newest good checkpoint of rank 0's `folder` as a folder of this rank;
/// null where this rank has it, as rank 0 does. All ranks call it alike. The errors of
/// findCheckpoint().
Result<std::unique_ptr<PassingFolder>> checkpointForRanks(const DataOptions &options,
                                                          const std::string &folder);

} // namespace lstmc::driver
