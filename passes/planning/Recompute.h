// Which layers save memory for the least time where backward computes their values again.
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

} // namespace lstmc::planning
