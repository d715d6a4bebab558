// Clusters of devices and the links between them.
#include <algorithm>

#include "backends/registry/Targets.h"
#include "passes/planning/ClusterReader.h"

namespace lstmc::planning {

namespace {

class Reader {
public:
  explicit Reader(const std::string &path) : path_(path) {}

  Result<Cluster> read(const std::vector<ClusterTable> &tables) {
    for (const ClusterTable &table : tables)
      if (table.name == "device")
        LSTMC_TRY(addDevice({path_, table}));
    if (cluster_.devices.empty())
      return failAt({path_}, ErrorCode::E0604, "found no [[device]] and no [[host]], want one");
    // Default links first, so that links between two named devices override them.
    for (bool ofTwo : {false, true})
      for (const ClusterTable &table : tables)
        if (table.name == "link" && (table.find("between") != nullptr) == ofTwo)
          LSTMC_TRY(addLink({path_, table}));
    return std::move(cluster_);
  }

private:
  /// Reads a table with one device; E0604 for other tables.
  Result<DeviceName> deviceNamed(const std::string &text, const Place &place) const {
    Result<std::vector<DeviceName>> names = parseDevices(text);
    if (!names.ok() || names->size() != 1)
      return failAt(place, ErrorCode::E0604,
                    "found \"{}\", want the name of one device, as \"cpu:0\"", text);
    return names->front();
  }

  Status addDevice(const TableReader &reader) {
    LSTMC_TRY(reader.check({"name", "kind", "memory", "flops_per_s", "bytes_per_s", "launch_s"}));
    LSTMC_ASSIGN(std::string text, reader.needed("name"));
    const Place &place = reader.table.find("name")->place;
    LSTMC_ASSIGN(DeviceName name, deviceNamed(text, place));
    if (std::find(cluster_.devices.begin(), cluster_.devices.end(), name) != cluster_.devices.end())
      return failAt(place, ErrorCode::E0612, "device {} stands twice", name.text());
    LSTMC_ASSIGN(target::KnownMachine known, reader.kind(name.kind));
    LSTMC_ASSIGN(uint64_t memory, reader.memory(name.text(), known.memoryBytes));
    const target::Target &target = targetOf(name.kind);
    LSTMC_ASSIGN(target::Speeds speeds, reader.speeds(target.speeds(known.machine)));
    cluster_.devices.push_back(name);
    cluster_.memory.push_back(memory);
    cluster_.machines.push_back(target.withSpeeds(known.machine, speeds));
    return {};
  }

  Status addLink(const TableReader &reader) {
    LSTMC_TRY(reader.check({"between", "bytes_per_s", "latency_s"}));
    target::Link link;
    LSTMC_ASSIGN(link.bytesPerSecond, reader.number("bytes_per_s", link.bytesPerSecond));
    LSTMC_ASSIGN(link.seconds, reader.number("latency_s", link.seconds));
    const ClusterValue *between = reader.table.find("between");
    if (!between) {
      for (target::Machine &machine : cluster_.machines)
        machine.links.assign(cluster_.machines.size(), link);
      return {};
    }
    std::vector<size_t> ends;
    for (const std::string &text : between->items) {
      LSTMC_ASSIGN(DeviceName name, deviceNamed(text, between->place));
      auto found = std::find(cluster_.devices.begin(), cluster_.devices.end(), name);
      if (found == cluster_.devices.end())
        return failAt(between->place, ErrorCode::E0604,
                      "a [[link]] names {}, which is no [[device]]", name.text());
      ends.push_back(size_t(found - cluster_.devices.begin()));
    }
    if (ends.size() != 2 || ends[0] == ends[1])
      return failAt(between->place, ErrorCode::E0604,
                    "`between` of a [[link]] has {} devices, want two", ends.size());
    for (auto [to, from] : {std::pair(ends[0], ends[1]), {ends[1], ends[0]}}) {
      target::Machine &machine = cluster_.machines[to];
      machine.links.resize(cluster_.machines.size(), machine.link);
      machine.links[from] = link;
    }
    return {};
  }

  const std::string &path_;
  Cluster cluster_;
};

} // namespace

Result<Cluster> readDevices(const std::string &path, const std::vector<ClusterTable> &tables) {
  return Reader(path).read(tables);
}

} // namespace lstmc::planning
