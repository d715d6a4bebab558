// Simulates the timing of an entry: the programs of all devices concurrently, with their
// dependencies.
#pragma once

#include <string>
#include <vector>

#include "backends/target/Target.h"
#include "executor/package/PackageData.h"
#include "passes/planning/forecast/Nics.h"
#include "passes/planning/forecast/Stretch.h"

namespace lstmc::planning {

/// Times of a launch. A receive begins when its message is available.
struct LaunchTime {
  double begin = 0, end = 0; ///< seconds from the begin of the entry
};

struct DeviceTimes {
  uint32_t device = 0;
  std::vector<LaunchTime> launches;
  double busy = 0; ///< seconds with at least one launch or message copy running
  int64_t sentBytes = 0;
  double moving = 0; ///< part of the launch seconds that is bound by memory bandwidth
};

struct EntryTimes {
  double seconds = 0;                ///< until the last device is done
  std::vector<DeviceTimes> programs; ///< in the order of the entry's programs
  std::vector<HostTimes>
      hosts; ///< indexed by Machine::host; empty if devices are connected by links
  int64_t sentBytes() const;
  /// Fraction of the time in which a device waits; 1 for a device without a program.
  double idleFraction(uint32_t device) const;
};

/// Forecasts an entry. `machines` may have one item for all devices; costs of launches and messages
/// come from the target of each device's kind. Launches on different streams of a device overlap as
/// far as their occupancy allows (SideBySide.h). A sender continues immediately, and its messages
/// leave one after the other. A receiver waits for the message and copies it; messages that arrive
/// without a copy (over a network) are only waited for. All programs reach `commit` before any
/// continues. Between hosts a message starts when both interfaces are free (Nics.h), and sender and
/// receiver each copy it; inputs are not sent, because every rank of a job reads them itself.
/// `realSteps`: see target::workOf().
EntryTimes forecast(const package::PackageData &package, const package::Entry &entry,
                    const target::Machines &machines, double realSteps = 1);

/// The same for many replicas, a few of which are in the package, each on its own hosts.
EntryTimes forecast(const package::PackageData &package, const package::Entry &entry,
                    const target::Machines &machines, const Stretch &replicas);

/// Indexed by device.
using Targets = std::vector<const target::Target *>;

/// The same, with `targets` in place of those of the package's devices.
EntryTimes forecast(const package::PackageData &package, const package::Entry &entry,
                    const target::Machines &machines, const Targets &targets, double realSteps = 1);

} // namespace lstmc::planning
