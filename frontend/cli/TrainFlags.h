// What train makes of its flags, for the Python module too.
#pragma once

#include <optional>
#include <string>

#include "executor/training/Trainer.h"
#include "frontend/cli/Operand.h"

namespace lstmc::cli {

/// fit(..) of the model with the flags over it. E0001 for a value that makes no sense.
Result<training::TrainOptions> trainOptions(const Model &model, const Options &options);

/// A package as a file has it, for a checkpoint.
std::string packageText(const package::PackageData &data);

/// The net for one symbol at a time with all states kept: what `sample` runs. None where the net
/// does not take one sequence of one step.
std::optional<std::string> samplePackage(const Options &options, const ModelRequest &request,
                                         const package::PackageData &trained);

/// Packs weights for all entries, so that a training that cannot have the memory it planned for a
/// validation ends before it began.
Status prepareAll(Session &session);

} // namespace lstmc::cli
