// Memory use over the time of an entry, as an SVG chart or a trace.
#pragma once

#include <string>

#include "passes/planning/forecast/Forecast.h"
#include "viz/BoxLinks.h"

namespace lstmc::viz {

/// A lane per entry and device: the bytes that are live at each moment, by kind, on top of the
/// persistent bytes; times are forecast for `machines`. All lanes have the same scale; the peak of
/// each device is marked. Entries with constant memory are only named, unless all entries are.
/// `links`: adds, for each box of a network, an initially hidden outline of the bytes that its ops
/// allocate.
std::string memoryChart(const package::PackageData &package, const target::Machines &machines,
                        const BoxLinks *links = nullptr);

/// The same as a trace in Chrome's format: a counter per device, a process per entry.
std::string memoryTrace(const package::PackageData &package, const target::Machines &machines);

} // namespace lstmc::viz
