#include "passes/planning/RecurrenceWays.h"

#include <algorithm>

#include "backends/registry/Targets.h"
#include "executor/package/Plan.h"

namespace lstmc::planning {

std::vector<LayerWay> recurrenceWays(const package::PackageData &data, const package::Entry &entry,
                                     const target::Machines &machines, double realSteps) {
  std::vector<LayerWay> ways;
  for (const package::DeviceProgram &program : entry.programs) {
    const target::Target &target = targetOf(data.devices[program.device].name);
    const target::Machine &machine =
        machines[std::min<size_t>(program.device, machines.size() - 1)];
    for (const package::Launch &launch : program.launches) {
      if (launch.kernel != KernelId::RnnForward && launch.kernel != KernelId::RnnBackward)
        continue;
      const target::Work work = target::workOf(data, launch, realSteps);
      const std::optional<target::Way> way = target.wayOf(machine, launch.kernel, work);
      if (!way)
        continue;
      const package::Location &location = data.locations[launch.location];
      const std::string name = package::opNameOf(data, location);
      LayerWay found = {.device = program.device,
                        .layer = name.empty() ? location.op : name,
                        .backward = launch.kernel == KernelId::RnnBackward,
                        .way = *way};
      auto same = std::ranges::find_if(ways, [&](const LayerWay &other) {
        return other.device == found.device && other.layer == found.layer &&
               other.backward == found.backward && other.way == found.way;
      });
      if (same == ways.end())
        same = ways.insert(ways.end(), found);
      same->steps += work.steps;
      same->seconds += target.launchSeconds(machine, launch.kernel, work);
      ++same->launches;
    }
  }
  return ways;
}

} // namespace lstmc::planning
