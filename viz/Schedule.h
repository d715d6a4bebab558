// The launches of an entry over time, as a chart.
#pragma once

#include "viz/Chart.h"
#include "viz/Cost.h"

namespace lstmc::viz {

/// A lane per device, and in it a bar per launch in the order of the program, as wide as the launch is estimated to take;
/// `step` where the package has it, else `forward`.
Chart scheduleChart(const package::PackageData &package, const Rates &rates);

} // namespace lstmc::viz
