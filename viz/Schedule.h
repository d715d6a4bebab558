// The launches of an entry over time, as a chart or a trace.
#pragma once

#include <span>

#include "passes/planning/forecast/Forecast.h"
#include "viz/BoxLinks.h"
#include "viz/Chart.h"

namespace lstmc::viz {

/// `step` if the package has it, else `forward`; null if it has neither.
const package::Entry *scheduledEntry(const package::PackageData &package);

/// Times of all launches, forecast or measured.
struct Timeline {
  std::string title; ///< "planned; estimate: ..."
  planning::EntryTimes times;
};

/// A lane per device and timeline with a bar per launch, in program order, all on one time scale;
/// messages are arrows from the sender's lane to the receiver's. A gap means that the device waits.
/// `links`: bars refer to their box of a network.
Chart scheduleChart(const package::PackageData &package, const package::Entry &entry,
                    std::span<const Timeline> timelines, const BoxLinks *links = nullptr);

/// The same as a trace in Chrome's format (chrome://tracing, Perfetto): a process per timeline, a
/// thread per device.
std::string scheduleTrace(const package::PackageData &package, const package::Entry &entry,
                          std::span<const Timeline> timelines);

} // namespace lstmc::viz
