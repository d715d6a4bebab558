#include "passes/planning/Threads.h"

#include <algorithm>

#include "backends/registry/Targets.h"
#include "executor/base/Processors.h"
#include "passes/planning/PackageForecast.h"

namespace lstmc::planning {

int threadsInForce(const package::PackageData &data, int64_t asked) {
  /// Seconds of one thread's work between two synchronisations below which a second thread gains
  /// nothing. Compared with built-in rates, so that the result is the same on every machine.
  constexpr double kWorthMeeting = 5e-6;
  if (asked > 0)
    return int(asked);
  int threads = std::max(1, defaultThreads() / std::max(1, int(data.devices.size())));
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

/// Time of orthogonal initialisation: half of each product and half of each difference of two
/// vectors. Other initialisers take no longer than reading the values.
static double initialSeconds(const package::PackageData &data, const target::Machine &machine) {
  double flops = 0;
  for (const package::Parameter &parameter : data.parameters) {
    if (parameter.initialise.kernel != KernelId::Initialise ||
        argumentsOf<InitialiseArguments>(parameter.initialise).kind != InitKind::Orthogonal)
      continue;
    const std::vector<int64_t> &shape = data.buffers[parameter.buffers.front()].shape;
    double elements = 1;
    for (int64_t extent : shape)
      elements *= double(extent);
    const double rows = shape.empty() ? 1 : double(shape.front());
    flops += 2 * elements * std::min(rows, elements / std::max(rows, 1.0));
  }
  if (flops == 0)
    return 0;
  return flops / targetOf(data.devices.front().name).speeds(machine).flopsPerSecond;
}

int threadsThatGain(const package::PackageData &data, int threads, const target::Machines &one,
                    const target::Machines &several) {
  /// Required gain of several threads in the forecast; the forecast is not more exact than that.
  constexpr double kGain = 0.9, kCalls = 100;
  auto secondsOf = [&](std::string_view entry, const target::Machines &machines) {
    return kCalls * *forecastSeconds(data, entry, machines) +
           initialSeconds(data, machines.front());
  };
  for (std::string_view entry : {"step", "forward", "evaluate"})
    if (forecastSeconds(data, entry, one))
      return secondsOf(entry, several) < kGain * secondsOf(entry, one) ? threads : 1;
  return threads;
}

} // namespace lstmc::planning
