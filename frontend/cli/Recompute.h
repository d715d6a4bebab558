// --recompute: what can be named there, and which layers save memory for the least time.
#pragma once

#include <string>
#include <vector>

#include "backends/cpu/compiler/Forecast.h"
#include "frontend/cli/Options.h"
#include "frontend/cli/PackageForecast.h"
#include "frontend/symbol/Symbol.h"
#include "passes/Compile.h"

namespace lstmc::cli {

/// Fills in what is asked for. E0001 for what is neither a group nor an op of the net.
Status readRecompute(const Options &options, const symbol::Graph &graph,
                     passes::CompileOptions &compile);

/// What --recompute may be given so that a plan fits, the least first: as few layers as may be
/// enough, then twice as many, up to all. Of the recurrent layers that hold for backward what is
/// not needed at the moment when a device needs most, in `step`, and more than it may use, those
/// come first that take the least time per byte.
std::vector<std::vector<std::string>> layersToRecompute(const package::PackageData &data,
                                                        const symbol::Graph &graph,
                                                        const cpu::Machines &machines,
                                                        const Capacities &capacities);

} // namespace lstmc::cli
