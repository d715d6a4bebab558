// When everything of an entry happens, before it runs: the programs of all devices side by side,
// with what they wait for.
#pragma once

#include <string>
#include <vector>

#include "backends/target/Target.h"
#include "executor/package/PackageData.h"
#include "passes/planning/forecast/Nics.h"
#include "passes/planning/forecast/Stretch.h"

namespace lstmc::planning {

/// A launch. Where it receives, from the moment when the message can be taken.
struct LaunchTime {
  double begin = 0, end = 0; ///< seconds from the begin of the entry
};

struct DeviceTimes {
  uint32_t device = 0;
  std::vector<LaunchTime> launches;
  double busy = 0; ///< seconds, of launches and of taking messages; side by side they count once
  int64_t sentBytes = 0;
  double moving = 0; ///< of the seconds of launches, those in which the memory sets the pace
};

struct EntryTimes {
  double seconds = 0;                ///< until the last device is done
  std::vector<DeviceTimes> programs; ///< as the entry's
  std::vector<HostTimes> hosts;      ///< by Machine::host; none where devices have links
  int64_t sentBytes() const;
  /// Of the time of a device, the part in which it waits; 1 for one without a program.
  double idleFraction(uint32_t device) const;
};

/// `machines` may be one, for all devices; what a launch or a message costs is asked of the target
/// of each device's kind. Launches on different streams of a device run side by side as far as they
/// leave room to one another (SideBySide.h). A sender goes on at once, while what it sends leaves
/// one message after the other; a receiver waits for the message and copies it, or, where it comes
/// by itself (over a network), until it has arrived; all reach `commit` before any continues.
/// Between hosts a message goes when both interfaces are free (Nics.h), and sender and receiver
/// each copy it; inputs do not go, since every rank of a job reads them by itself. `realSteps`: as
/// target::workOf() has it.
EntryTimes forecast(const package::PackageData &package, const package::Entry &entry,
                    const target::Machines &machines, double realSteps = 1);

/// The same of many replicas, of which the package has a few, each on hosts of its own.
EntryTimes forecast(const package::PackageData &package, const package::Entry &entry,
                    const target::Machines &machines, const Stretch &replicas);

/// By device.
using Targets = std::vector<const target::Target *>;

/// The same as if the package's devices were of these targets.
EntryTimes forecast(const package::PackageData &package, const package::Entry &entry,
                    const target::Machines &machines, const Targets &targets, double realSteps = 1);

} // namespace lstmc::planning
