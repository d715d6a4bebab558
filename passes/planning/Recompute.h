// What saves memory for the least time where backward computes it again: layers, or all steps.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "passes/planning/PackageForecast.h"
#include "passes/planning/forecast/Forecast.h"

namespace lstmc::planning {

/// What CompileOptions::recompute may be given so that a plan fits, the least first: as few layers
/// as may be enough, then twice as many, up to all. Of the recurrent layers that hold for backward
/// what is not needed at the moment when a device needs most, in `step`, and more than it may use,
/// those come first that take the least time per byte. `ops` are those of the net, by name.
std::vector<std::vector<std::string>> layersToRecompute(const package::PackageData &data,
                                                        const std::set<std::string> &ops,
                                                        const target::Machines &machines,
                                                        const Capacities &capacities);

/// What `--recompute` may say of steps so that a plan fits: CompileOptions::segments in words, as
/// many as are chosen, then twice as many. Nothing where `step` has them already, has no layer
/// whose steps could be cut, or sums several shards on a device.
std::vector<std::string> stepsToRecompute(const package::PackageData &data);

} // namespace lstmc::planning
