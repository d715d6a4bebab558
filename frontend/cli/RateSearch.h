// --lr-find: the losses of a training with rates that grow.
#pragma once

#include "executor/training/RateFinder.h"
#include "frontend/cli/CommandResult.h"
#include "frontend/cli/Console.h"

namespace lstmc::cli {

/// Searches as --after says, and prints a line for each rate and the one to begin with; with --json
/// lstmc.lr-find/1.
CommandResult searchRate(training::Trainable &model, const data::DataSet &data, uint64_t seed,
                         const Options &options, Console &console);

} // namespace lstmc::cli
