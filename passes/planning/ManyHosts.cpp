#include "passes/planning/ManyHosts.h"

#include <algorithm>
#include <array>

#include "passes/planning/LayoutDevices.h"

namespace lstmc::planning {

static bool areAlike(const target::Machine &a, const target::Machine &b) {
  auto nic = [](const target::Machine &machine) {
    const target::Nic &n = machine.nic;
    return std::array{n.outBytesPerSecond, n.inBytesPerSecond, n.outSeconds, n.inSeconds};
  };
  return a.figures == b.figures && nic(a) == nic(b);
}

Result<int64_t> devicesPerHost(const Cluster &cluster) {
  if (cluster.hosts.empty())
    return fail(ErrorCode::E0001, "the cluster has devices and no [[host]]");
  const auto each = int64_t(cluster.devices.size() / cluster.hosts.size());
  for (size_t i = 0; i < cluster.devices.size(); ++i) {
    const size_t first = i % size_t(each);
    if (cluster.machines[i].host != int(i / size_t(each)) ||
        cluster.devices[i].kind != cluster.devices[first].kind ||
        cluster.memory[i] != cluster.memory[first] ||
        !areAlike(cluster.machines[i], cluster.machines[first]))
      return fail(ErrorCode::E0001,
                  "many hosts are forecast by one of them, and host {} is not like {}",
                  cluster.hosts[size_t(cluster.machines[i].host)], cluster.hosts[0]);
  }
  return each;
}

Result<Replicas> replicasOn(int64_t hosts, int64_t devicesPerHost, int64_t stages) {
  const int64_t devices = hosts * devicesPerHost;
  if (devices % stages != 0 || (devicesPerHost % stages != 0 && stages % devicesPerHost != 0))
    return fail(ErrorCode::E0001,
                "{} hosts of {} devices are not shared out evenly by replicas of {}", hosts,
                devicesPerHost, stages);
  const int64_t count = devices / stages;
  return Replicas{stages, count, std::max<int64_t>(1, devicesPerHost / stages),
                  std::min(count, std::max<int64_t>(3, kMostCompiled / stages))};
}

Cluster patternOf(const Cluster &cluster, int64_t devicesPerHost, const Replicas &replicas) {
  Cluster pattern;
  pattern.hosts = cluster.hosts;
  const bool all = replicas.compiled == replicas.count;
  const int64_t ofHost = all ? devicesPerHost : std::min(devicesPerHost, replicas.stages);
  for (int64_t i = 0; i < replicas.stages * replicas.compiled; ++i) {
    pattern.devices.push_back({cluster.devices[0].kind, int(i)});
    const auto like = size_t(i % ofHost);
    pattern.memory.push_back(cluster.memory[like]);
    target::Machine &machine = pattern.machines.emplace_back(cluster.machines[like]);
    machine.host = int(i / ofHost);
    const double share = all ? 1 : double(replicas.perHost);
    machine.nic.outBytesPerSecond /= share;
    machine.nic.inBytesPerSecond /= share;
  }
  return pattern;
}

PackageForecast forecastMany(const package::PackageData &pattern, const target::Machines &machines,
                             const Replicas &replicas, int64_t bigArrayBound) {
  if (replicas.count == replicas.compiled)
    return forecastPackage(pattern, machines);
  const Stretch stretch(pattern, replicas.stages, replicas.count, replicas.perHost, bigArrayBound);
  PackageForecast known;
  known.replicas = replicas.count;
  known.idle.assign(pattern.devices.size(), 1);
  for (const package::Entry &entry : pattern.entries) {
    const bool weighed = &entry == weighedEntry(pattern);
    if (!weighed && entry.name != "forward")
      continue;
    const EntryTimes times = forecast(pattern, entry, machines, stretch);
    (entry.name == "step" ? known.updateSeconds : known.forwardSeconds) = times.seconds;
    if (!weighed)
      continue;
    for (uint32_t device = 0; device < pattern.devices.size(); ++device)
      known.idle[device] = times.idleFraction(device);
    known.hosts = forecastHosts(pattern, machines, times);
    for (const HostTimes &host : forecast(pattern, entry, machines, stretch.together()).hosts)
      known.sentBytes += host.sentBytes;
    // The hosts of the last compiled replica represent those of all replicas that are not compiled.
    const int64_t hosts = replicas.count / replicas.perHost,
                  others = std::min(hosts, replicas.compiled) - 1,
                  each = int64_t(known.hosts.size()) / replicas.compiled;
    known.hosts.erase(known.hosts.begin() + others * each, known.hosts.end() - each);
    for (int64_t i = 0; i < (others + 1) * each; ++i) {
      HostForecast &host = known.hosts[size_t(i)];
      host.host = int(i);
      host.count = i < others * each ? 1 : hosts - others;
      host.times.sentBytes *= replicas.perHost;
      host.times.receivedBytes *= replicas.perHost;
    }
  }
  return known;
}

} // namespace lstmc::planning
