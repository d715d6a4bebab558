// The launches of an entry over time, as a chart or a trace.
#pragma once

#include <span>

#include "passes/planning/forecast/Forecast.h"
#include "viz/BoxLinks.h"
#include "viz/Chart.h"

namespace lstmc::viz {

/// `step` where the package has it, else `forward`; null where it has neither.
const package::Entry *scheduledEntry(const package::PackageData &package);

/// When each launch runs, as a forecast or a clock says.
struct Timeline {
  std::string title; ///< "planned; estimate: ..."
  planning::EntryTimes times;
};

/// Per timeline a lane per device, and in it a bar per launch in the order of the program, all on
/// one scale; what devices send one another as arrows from the sender's lane to the receiver's.
/// Where there is no bar, a device waits.
/// `links`: bars say which box of a network they belong to.
Chart scheduleChart(const package::PackageData &package, const package::Entry &entry,
                    std::span<const Timeline> timelines, const BoxLinks *links = nullptr);

/// The same in Chrome's format (chrome://tracing, Perfetto): a process per timeline, a thread per
/// device.
std::string scheduleTrace(const package::PackageData &package, const package::Entry &entry,
                          std::span<const Timeline> timelines);

} // namespace lstmc::viz
