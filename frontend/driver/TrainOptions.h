// A request for a training as the options of the loop, and what its checkpoints keep.
#pragma once

#include <optional>
#include <string>

#include "executor/training/Trainer.h"
#include "frontend/driver/Model.h"

namespace lstmc::driver {

/// fit(..) of the model with the flags over it. E0001 for a value that makes no sense.
Result<training::TrainOptions> trainOptions(const Model &model, const TrainRequest &options);

/// The names of --metric; E0001 for one that there is not.
Result<std::vector<std::string>> metricsAsked(const OptimizerOptions &options);

/// A package as a file has it, for a checkpoint.
std::string packageText(const package::PackageData &data);

/// The net for one symbol at a time with all states kept: what `sample` runs. None where the net
/// does not take one sequence of one step.
std::optional<std::string> samplePackage(const std::string &path, const CompileRequest &options,
                                         const ModelRequest &request,
                                         const package::PackageData &trained);

} // namespace lstmc::driver
