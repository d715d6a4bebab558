#include "passes/planning/HostForecast.h"

#include <algorithm>
#include <cmath>

namespace lstmc::planning {

std::string_view wordOf(Bound bound) {
  switch (bound) {
  case Bound::Arithmetic:
    return "arithmetic";
  case Bound::Memory:
    return "memory";
  case Bound::Sending:
    return "sending";
  case Bound::Receiving:
    return "receiving";
  case Bound::Waiting:
    return "waiting";
  }
  return "";
}

bool HostForecast::isLike(const HostForecast &other) const {
  auto near = [](double a, double b) { return std::abs(a - b) < 0.005; };
  return bound == other.bound && times.sentBytes == other.times.sentBytes &&
         times.receivedBytes == other.times.receivedBytes && near(computing, other.computing) &&
         near(sending, other.sending) && near(receiving, other.receiving) &&
         devices.size() == other.devices.size();
}

static Bound boundOf(const HostForecast &host, bool moving) {
  const double most = std::max({host.computing, host.sending, host.receiving});
  return most < 0.5               ? Bound::Waiting
         : most == host.computing ? (moving ? Bound::Memory : Bound::Arithmetic)
         : most == host.sending   ? Bound::Sending
                                  : Bound::Receiving;
}

std::vector<HostForecast> forecastHosts(const package::PackageData &data,
                                        const target::Machines &machines, const EntryTimes &times) {
  std::vector<HostForecast> hosts;
  std::vector<bool> moving;
  for (size_t device = 0; device < data.devices.size() && device < machines.size(); ++device) {
    const int number = machines[device].host;
    if (number < 0 || !(times.seconds > 0))
      continue;
    auto found = std::ranges::find(hosts, number, &HostForecast::host);
    if (found == hosts.end()) {
      found = hosts.insert(hosts.end(), HostForecast{number});
      moving.push_back(false);
      found->times = times.hosts[size_t(number)];
      found->sending = found->times.sending / times.seconds;
      found->receiving = found->times.receiving / times.seconds;
    }
    found->devices.push_back(data.devices[device].name);
    for (const DeviceTimes &program : times.programs)
      if (program.device == device && program.busy / times.seconds > found->computing) {
        found->computing = program.busy / times.seconds;
        moving[size_t(found - hosts.begin())] = program.moving > program.busy / 2;
      }
  }
  for (size_t i = 0; i < hosts.size(); ++i)
    hosts[i].bound = boundOf(hosts[i], moving[i]);
  return hosts;
}

} // namespace lstmc::planning
