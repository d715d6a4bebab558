// When launches ran, by the clock: what a schedule that was planned is set beside.
#pragma once

#include "backends/cpu/compiler/Forecast.h"
#include "frontend/cli/Model.h"

namespace lstmc::cli {

/// Runs the entry with random inputs and initial weights, some times to warm up and watch single launches, and then by the clock. Several
/// devices run side by side as ever, and what is timed is their steps, from message to message; the launches within one share its
/// time as they took it alone.
Result<cpu::EntryTimes> measuredTimes(const Model &model, const Options &options, const package::Entry &entry);

} // namespace lstmc::cli
