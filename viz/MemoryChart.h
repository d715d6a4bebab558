// Bytes over the time of an entry, as an SVG bar chart or a trace.
#pragma once

#include <string>

#include "passes/planning/forecast/Forecast.h"
#include "viz/BoxLinks.h"

namespace lstmc::viz {

/// A lane per entry and device: at each moment, as forecast for `machines`, the bytes that live
/// then, by kind, on top of what persists. All lanes have one scale of bytes; the peak of each
/// device is marked. Entries that hold the same bytes throughout are named and not drawn, unless
/// all do. `links`: for each box of a network the bytes of what its ops make, as an outline that is
/// not shown until a page does.
std::string memoryChart(const package::PackageData &package, const target::Machines &machines,
                        const BoxLinks *links = nullptr);

/// The same in Chrome's format: a counter per device, a process per entry.
std::string memoryTrace(const package::PackageData &package, const target::Machines &machines);

} // namespace lstmc::viz
