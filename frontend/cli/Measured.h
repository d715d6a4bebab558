// When launches ran, by the clock: what a schedule that was planned is set beside.
#pragma once

#include "frontend/cli/Operand.h"
#include "passes/planning/forecast/Forecast.h"

namespace lstmc::cli {

/// Runs the entry with random inputs and initial weights, some times to warm up and then by the
/// clock, several devices side by side as ever.
Result<planning::EntryTimes> measuredTimes(const Model &model, const Options &options,
                                           const package::Entry &entry);

} // namespace lstmc::cli
