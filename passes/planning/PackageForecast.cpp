#include "passes/planning/PackageForecast.h"

#include <algorithm>

#include "backends/registry/Targets.h"

namespace lstmc::planning {

static const package::Entry *findEntry(const package::PackageData &data, std::string_view name) {
  auto found = std::find_if(data.entries.begin(), data.entries.end(),
                            [&](const package::Entry &entry) { return entry.name == name; });
  return found == data.entries.end() ? nullptr : &*found;
}

std::optional<double> forecastSeconds(const package::PackageData &data, std::string_view entry,
                                      const target::Machines &machines, double realSteps) {
  const package::Entry *found = findEntry(data, entry);
  return found ? std::optional(forecast(data, *found, machines, realSteps).seconds) : std::nullopt;
}

PackageForecast forecastPackage(const package::PackageData &data, const target::Machines &machines,
                                double realSteps) {
  PackageForecast known;
  known.realSteps = realSteps;
  bool measured = std::all_of(machines.begin(), machines.end(), [](const target::Machine &machine) {
    return machine.measuredThreads > 0;
  });
  known.rates = measured ? "this machine" : "built-in";
  known.updateSeconds = forecastSeconds(data, "step", machines, realSteps);
  const package::Entry *shown = nullptr;
  for (std::string_view name : {"evaluate", "forward"}) // the later beats the earlier
    if (const package::Entry *entry = findEntry(data, name)) {
      known.forwardSeconds = forecast(data, *entry, machines, realSteps).seconds;
      shown = entry;
    }
  if (const package::Entry *step = findEntry(data, "step"))
    shown = step;
  for (uint32_t device = 0; device < data.devices.size(); ++device)
    known.driver.push_back(
        targetOf(data.devices[device].name)
            .driverBytes(machines[std::min<size_t>(device, machines.size() - 1)], data, device));
  known.idle.assign(data.devices.size(), 1);
  if (shown) {
    EntryTimes times = forecast(data, *shown, machines, realSteps);
    known.sentBytes = times.sentBytes();
    for (uint32_t device = 0; device < data.devices.size(); ++device)
      known.idle[device] = times.idleFraction(device);
    known.hosts = forecastHosts(data, machines, times);
    known.ways = recurrenceWays(data, *shown, machines, realSteps);
  }
  return known;
}

bool fits(const package::PackageData &data, const Capacities &capacities) {
  for (size_t device = 0; device < std::min(data.devices.size(), capacities.size()); ++device)
    if (data.devices[device].arenaBytes > capacities[device])
      return false;
  return true;
}

} // namespace lstmc::planning
