// Selects the layers, or steps, whose recomputation in backward saves memory at the least cost in
// time.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "passes/planning/PackageForecast.h"
#include "passes/planning/forecast/Forecast.h"

namespace lstmc::planning {

/// Candidates for CompileOptions::recompute that may make a plan fit, smallest first: as few layers
/// as may suffice, then twice as many, up to all. Considers recurrent layers whose values are kept
/// for backward but not needed at the peak of `step`, on devices over their limit; layers with the
/// least recomputation time per byte come first. `ops`: names of the net's ops.
std::vector<std::vector<std::string>> layersToRecompute(const package::PackageData &data,
                                                        const std::set<std::string> &ops,
                                                        const target::Machines &machines,
                                                        const Capacities &capacities);

/// Candidates for step segments as values of `--recompute` (CompileOptions::segments): the default
/// number, then twice as many. Empty if `step` has segments already, no layer's steps can be cut,
/// or a device sums several shards.
std::vector<std::string> stepsToRecompute(const package::PackageData &data);

} // namespace lstmc::planning
