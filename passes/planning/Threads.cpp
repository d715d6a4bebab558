#include "passes/planning/Threads.h"

#include <algorithm>

#include "backends/registry/Targets.h"
#include "executor/device/ThreadTeam.h"

namespace lstmc::planning {

int threadsInForce(const package::PackageData &data, int64_t asked) {
  /// Of one thread's work, between two moments at which threads meet: below it a second one gains
  /// nothing. By the built-in figures, so that it is the same on every machine.
  constexpr double kWorthMeeting = 5e-6;
  if (asked > 0)
    return int(asked);
  int threads = std::max(1, availableProcessors() / std::max(1, int(data.devices.size())));
  double seconds = 0, meetings = 0;
  for (const package::Entry &entry : data.entries)
    for (const package::DeviceProgram &program : entry.programs) {
      const target::Target &target = targetOf(data.devices[program.device].name);
      for (const package::Launch &launch : program.launches)
        if (!isTransfer(launch.kernel)) {
          target::Work work = target::workOf(data, launch);
          seconds += target.launchSeconds({}, launch.kernel, work);
          meetings += 1 + double(work.steps);
        }
    }
  return seconds < kWorthMeeting * meetings ? 1 : threads;
}

} // namespace lstmc::planning
