// buckets= of data: the network for each of several lengths.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "executor/training/Trainable.h"
#include "frontend/driver/Model.h"

namespace lstmc::driver {

/// The network for all lengths but the longest, and its sessions.
struct Buckets {
  std::vector<int64_t> steps; ///< ascending, with the longest; empty: the data have no buckets
  std::vector<Model> shorter;
  std::vector<std::unique_ptr<Session>> sessions; ///< of `shorter`

  std::vector<package::Package::Pointer> packages() const;
};

/// Compiles it for the shorter lengths, for training. Diagnostics of loadModel().
Checked<Buckets> compileBuckets(const std::string &path, std::vector<int64_t> steps,
                                const CompileRequest &options, ModelRequest request);

/// All lengths as one thing to train. `longest` has the others' packages as neighbours.
Result<std::unique_ptr<training::Trainable>> openBuckets(Buckets &buckets, Session &longest,
                                                         const RunRequest &options);

} // namespace lstmc::driver
