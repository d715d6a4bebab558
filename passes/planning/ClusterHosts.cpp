// Clusters of hosts: each has devices, a memory that they share, and an interface to the others.
#include <algorithm>
#include <map>

#include "backends/registry/Targets.h"
#include "passes/planning/ClusterReader.h"

namespace lstmc::planning {

namespace {

class Reader {
public:
  explicit Reader(const std::string &path) : path_(path) {}

  Result<Cluster> read(const std::vector<ClusterTable> &tables) {
    for (const ClusterTable &table : tables)
      LSTMC_TRY(addHosts({path_, table}));
    return std::move(cluster_);
  }

private:
  Status addHosts(const TableReader &reader) {
    LSTMC_TRY(reader.check({"name", "count", "devices", "kind", "cores", "memory", "flops_per_s",
                            "bytes_per_s", "launch_s", "nic_bytes_per_s", "nic_latency_s"}));
    LSTMC_ASSIGN(std::string name, reader.needed("name"));
    LSTMC_ASSIGN(int64_t count, reader.count("count", 1, kMostHosts));
    if (int64_t(cluster_.hosts.size()) + count > kMostHosts)
      return reader.wrong(*reader.table.find("count"),
                          fmt::format("{} hosts in a file at most", kMostHosts));
    LSTMC_ASSIGN(std::vector<DeviceName> devices, devicesOf(reader));
    LSTMC_ASSIGN(Kinds kinds, kindsOf(reader, devices));
    uint64_t ofKinds = 0;
    for (const target::KnownMachine &known : kinds)
      ofKinds += known.memoryBytes;
    LSTMC_ASSIGN(uint64_t memory, reader.memory(name, ofKinds));
    LSTMC_ASSIGN(target::Machines machines, machinesOf(reader, devices, kinds));
    for (int64_t i = 0; i < count; ++i) {
      std::string own = count == 1 ? name : fmt::format("{}{}", name, i);
      if (std::find(cluster_.hosts.begin(), cluster_.hosts.end(), own) != cluster_.hosts.end())
        return failAt(reader.table.find("name")->place, ErrorCode::E0612, "host {} stands twice",
                      own);
      addHost(own, devices, memory, machines);
    }
    return {};
  }

  Result<std::vector<DeviceName>> devicesOf(const TableReader &reader) const {
    const ClusterValue *value = reader.table.find("devices");
    if (!value)
      return std::vector<DeviceName>{{DeviceKind::Cpu, 0}};
    Result<std::vector<DeviceName>> devices =
        value->items.size() == 1 ? parseDevices(value->items[0]) : std::vector<DeviceName>();
    if (!devices.ok() || devices->empty())
      return reader.wrong(*value, "devices as -d has them, \"cpu\" or \"2xcpu\"");
    return devices;
  }

  using Kinds = std::vector<target::KnownMachine>;

  static Result<Kinds> kindsOf(const TableReader &reader, const std::vector<DeviceName> &devices) {
    Kinds kinds;
    for (const DeviceName &device : devices) {
      LSTMC_ASSIGN(target::KnownMachine known, reader.kind(device.kind));
      kinds.push_back(std::move(known));
    }
    return kinds;
  }

  /// The machines of one host.
  static Result<target::Machines> machinesOf(const TableReader &reader,
                                             const std::vector<DeviceName> &devices,
                                             const Kinds &kinds) {
    const auto share = double(devices.size());
    LSTMC_ASSIGN(int64_t cores, reader.count("cores", int64_t(devices.size()), 1'000'000));
    target::Nic nic;
    LSTMC_ASSIGN(std::vector<double> rates,
                 reader.numbers("nic_bytes_per_s", nic.outBytesPerSecond, 2));
    LSTMC_ASSIGN(std::vector<double> latencies, reader.numbers("nic_latency_s", nic.outSeconds, 2));
    nic = {rates[0], rates[1], latencies[0], latencies[1]};
    target::Machines machines;
    for (size_t i = 0; i < devices.size(); ++i) {
      const target::Target &target = targetOf(devices[i].kind);
      const target::Machine &known = kinds[i].machine;
      target::Speeds own = target.speeds(known);
      own.bytesPerSecond *= share; // memory bandwidth not specified: enough for all devices
      LSTMC_ASSIGN(target::Speeds speeds, reader.speeds(own));
      speeds.flopsPerSecond *= double(cores) / share;
      speeds.bytesPerSecond /= share;
      target::Machine &machine = machines.emplace_back(target.withSpeeds(known, speeds));
      if (known.figures.empty())
        machine.link.bytesPerSecond = speeds.bytesPerSecond / 2; // read and written
      machine.nic = nic;
    }
    return machines;
  }

  void addHost(const std::string &name, const std::vector<DeviceName> &devices, uint64_t memory,
               const target::Machines &machines) {
    const auto host = int(cluster_.hosts.size());
    cluster_.hosts.push_back(name);
    std::map<DeviceKind, int> most; // indices of this host, by kind
    for (size_t i = 0; i < devices.size(); ++i) {
      const auto [kind, index, part] = devices[i];
      most[kind] = std::max(most[kind], index + 1);
      cluster_.devices.push_back({kind, next_[kind] + index, part});
      cluster_.memory.push_back(memory / devices.size());
      cluster_.machines.push_back(machines[i]);
      cluster_.machines.back().host = host;
    }
    for (auto [kind, count] : most)
      next_[kind] += count;
  }

  const std::string &path_;
  Cluster cluster_;
  std::map<DeviceKind, int> next_; ///< the first index that no host has, by kind
};

} // namespace

Result<Cluster> readHosts(const std::string &path, const std::vector<ClusterTable> &tables) {
  return Reader(path).read(tables);
}

} // namespace lstmc::planning
