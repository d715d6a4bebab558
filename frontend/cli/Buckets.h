// buckets= of data: the network for each of several lengths.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "executor/training/Trainable.h"
#include "frontend/cli/Model.h"

namespace lstmc::cli {

/// The dim that is given the steps of a bucket: the one of the inputs, beside that of the batch.
/// E0214, at data(..) where that has the buckets, if there is none or are several.
Checked<std::string> dimOfSteps(const symbol::Network &net);

/// The network for all lengths but the longest, and its sessions.
struct Buckets {
  std::vector<int64_t> steps; ///< ascending, with the longest; empty: the data have no buckets
  std::vector<Model> shorter;
  std::vector<std::unique_ptr<Session>> sessions; ///< of `shorter`

  std::vector<package::Package::Pointer> packages() const;
};

/// Compiles it for the shorter lengths, for training. Diagnostics of loadModel().
Checked<Buckets> compileBuckets(std::vector<int64_t> steps, const Options &options,
                                ModelRequest request);

/// All lengths as one thing to train. `longest` has the others' packages as neighbours.
Result<std::unique_ptr<training::Trainable>> openBuckets(Buckets &buckets, Session &longest,
                                                         const Options &options);

} // namespace lstmc::cli
