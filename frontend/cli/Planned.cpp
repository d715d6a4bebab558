#include "frontend/cli/Planned.h"

#include <algorithm>

#include "executor/package/MessageMemory.h"

namespace lstmc::cli {

std::vector<int> processesOf(const Planned &planned, const Target &target) {
  std::vector<int> processes(planned.data.devices.size());
  for (size_t device = 0; device < processes.size(); ++device)
    if (target.cluster)
      processes[device] = planned.machines[std::min(device, planned.machines.size() - 1)].host;
    else if (target.job)
      processes[device] = target.job->rankOf(device, processes.size());
  return processes;
}

void limitMemory(Planned &planned, const Target &target) {
  const std::vector<int> processes = processesOf(planned, target);
  planned.messages.assign(planned.capacities.size(), 0);
  for (uint32_t device = 0; device < planned.capacities.size(); ++device) {
    uint64_t &capacity = planned.capacities[device];
    if (target.mayUse)
      capacity = std::min(target.mayUse, capacity);
    if ((!target.cluster && !target.job) || !package::hostSees(planned.data.devices[device]))
      continue;
    const uint64_t messages = package::messageBytes(planned.data, device, {.processes = processes});
    planned.messages[device] = std::min(capacity, messages);
    capacity -= planned.messages[device];
  }
}

} // namespace lstmc::cli
