#include "frontend/driver/Threads.h"

#include <algorithm>

#include "executor/base/Processors.h"
#include "frontend/driver/Layout.h"
#include "frontend/driver/Ranks.h"
#include "passes/planning/Threads.h"
#include "passes/planning/rates/MachineRates.h"

namespace lstmc::driver {

std::set<int> threadsInQuestion(const RunRequest &options) {
  int64_t asked = *options.threads;
  Result<std::vector<DeviceName>> devices = devicesAsked(options);
  if (asked > 1024 || !devices.ok())
    return {};
  if (std::none_of(devices->begin(), devices->end(),
                   [](const DeviceName &device) { return planning::isMeasured(device.kind); }))
    return {};
  if (asked > 0)
    return {int(asked)};
  std::set<int> counts = {1, std::max(1, defaultThreads() / std::max(1, int(devices->size())))};
  if (options.place->starts_with("auto"))
    for (int count = 1; count < int(devices->size()); ++count)
      counts.insert(std::max(1, defaultThreads() / count));
  return counts;
}

void measureIfNew(const std::set<int> &threadCounts, const Notices &notices) {
  if (isRank())
    return;
  if (std::optional<planning::Measured> measured = planning::measureIfNew(threadCounts))
    notices.say(fmt::format("measured this machine for forecasts: {:.1f} s, once; kept in {}",
                            measured->seconds, measured->file));
}

int threadsOf(const package::PackageData &data, int64_t asked) {
  int threads = planning::threadsInForce(data, asked);
  if (asked > 0 || threads == 1)
    return threads;
  target::Machines one = planning::machinesOf(data, 1),
                   several = planning::machinesOf(data, threads);
  auto measured = [](const target::Machines &machines, int count) {
    return std::ranges::all_of(
        machines, [&](const target::Machine &machine) { return machine.measuredThreads == count; });
  };
  if (!measured(one, 1) || !measured(several, threads))
    return threads;
  return planning::threadsThatGain(data, threads, one, several);
}

} // namespace lstmc::driver
