// Bytes over the launches of an entry, as an SVG bar chart.
#pragma once

#include <string>

#include "executor/package/PackageData.h"

namespace lstmc::viz {

/// One lane per entry: at each launch the bytes that live then, by kind, on top of what persists. The peak is marked.
std::string memoryChart(const package::PackageData &package);

} // namespace lstmc::viz
