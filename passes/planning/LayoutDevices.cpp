#include "passes/planning/LayoutDevices.h"

#include <algorithm>

#include "backends/registry/Targets.h"

namespace lstmc::planning {

using passes::CompileOptions;

target::Machines layoutMachines(const CompileOptions &options) {
  size_t count = options.devices.size();
  if (options.machines.size() > 1)
    return options.machines;
  if (!options.sharing.empty())
    return {options.sharing[std::min(count, options.sharing.size()) - 1]};
  return options.machines;
}

Workers workersOf(const CompileOptions &options) {
  const target::Machines machines = layoutMachines(options);
  Workers workers;
  for (size_t device = 0; device < options.devices.size(); ++device)
    workers.push_back(
        {&targetOf(options.devices[device]), machines[std::min(device, machines.size() - 1)]});
  return workers;
}

target::MessageCost messageCost(const Workers &workers, size_t sender, size_t receiver,
                                double bytes) {
  const Worker &from = workers[sender], &to = workers[receiver];
  if (from.machine.host == to.machine.host)
    return to.target->messageCost(to.machine, uint32_t(sender), bytes);
  const target::Nic &out = from.machine.nic, &in = to.machine.nic;
  target::Work copy;
  copy.bytes = int64_t(2 * bytes);
  double seconds = bytes / std::min(out.outBytesPerSecond, in.inBytesPerSecond);
  for (const Worker *end : {&from, &to})
    seconds += end->target->launchSeconds(end->machine, KernelId::Copy, copy);
  return {out.outSeconds + in.inSeconds, seconds, true};
}

CompileOptions on(const CompileOptions &options, const std::vector<size_t> &devices) {
  CompileOptions part = options;
  auto pick = [&](auto &list, const auto &from) {
    if (from.size() < 2 && list.size() < options.devices.size())
      return; // one for all
    list.clear();
    for (size_t device : devices)
      list.push_back(from[device]);
  };
  pick(part.devices, options.devices);
  pick(part.machines, options.machines);
  pick(part.deviceMemory, options.deviceMemory);
  for (target::Machine &machine : part.machines)
    if (!machine.links.empty()) {
      std::vector<target::Link> links;
      for (size_t from : devices)
        links.push_back(machine.linkFrom(uint32_t(from)));
      machine.links = std::move(links);
    }
  return part;
}

int64_t replicasOf(const CompileOptions &options) {
  return int64_t(options.devices.size()) / std::max<int64_t>(1, options.devicesPerReplica());
}

const package::Entry *weighedEntry(const package::PackageData &data) {
  for (const char *name : {"step", "forward", "evaluate"})
    for (const package::Entry &entry : data.entries)
      if (entry.name == name)
        return &entry;
  return nullptr;
}

} // namespace lstmc::planning
