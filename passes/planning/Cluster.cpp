#include "passes/planning/Cluster.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

#include "backends/registry/Targets.h"
#include "executor/base/NumberText.h"
#include "executor/base/Suggest.h"

namespace lstmc::planning {

namespace {

/// A [[device]] or [[link]]: its keys and their values.
struct Table {
  std::string name;
  std::map<std::string, std::vector<std::string>> values;
};

Result<std::vector<Table>> tablesOf(const std::string &path) {
  std::ifstream file(path);
  if (!file)
    return failAt({path}, ErrorCode::E0601, "cannot read this description of a cluster");
  std::vector<Table> tables;
  try {
    for (const CLI::ConfigItem &item : CLI::ConfigBase().from_config(file)) {
      if (item.name == "--")
        continue;
      if (item.name == "++") {
        tables.push_back({item.parents.empty() ? "" : item.parents.back(), {}});
        continue;
      }
      if (item.parents.empty() || tables.empty())
        return failAt({path}, ErrorCode::E0604, "found \"{}\" outside of [[device]] and [[link]]",
                      item.name);
      if (!tables.back().values.emplace(item.name, item.inputs).second)
        return failAt({path}, ErrorCode::E0612, "[[{}]] has \"{}\" twice", tables.back().name,
                      item.name);
    }
  } catch (const CLI::Error &error) {
    return failAt({path}, ErrorCode::E0603, "not TOML: {}", error.what());
  }
  return tables;
}

class Reader {
public:
  explicit Reader(const std::string &path) : path_(path) {}

  Result<Cluster> read() {
    LSTMC_ASSIGN(std::vector<Table> tables, tablesOf(path_));
    for (const Table &table : tables) {
      if (table.name != "device" && table.name != "link")
        return failAt({path_}, ErrorCode::E0604, "found [[{}]], want [[device]] and [[link]]",
                      table.name);
      if (table.name == "device")
        LSTMC_TRY(addDevice(table));
    }
    if (cluster_.devices.empty())
      return failAt({path_}, ErrorCode::E0604, "found no [[device]], want at least one");
    // Links of all pairs first, so that those of two devices stand over them.
    for (bool ofTwo : {false, true})
      for (const Table &table : tables)
        if (table.name == "link" && table.values.contains("between") == ofTwo)
          LSTMC_TRY(addLink(table));
    return std::move(cluster_);
  }

private:
  Status check(const Table &table, const std::vector<std::string_view> &known) const {
    for (const auto &[key, values] : table.values)
      if (std::find(known.begin(), known.end(), key) == known.end())
        return failAt({path_}, ErrorCode::E0604, "[[{}]] has no \"{}\", it has {}{}", table.name,
                      key, fmt::join(known, ", "), meant(key, known));
    return {};
  }

  static std::string meant(const std::string &key, const std::vector<std::string_view> &known) {
    std::string suggestion = didYouMean(key, known);
    return suggestion.empty() ? suggestion : "; " + suggestion;
  }

  /// A positive number, or what stands for it where the table has none.
  Result<double> number(const Table &table, const std::string &key, double otherwise) const {
    auto found = table.values.find(key);
    if (found == table.values.end())
      return otherwise;
    const std::string &text = found->second.empty() ? "" : found->second[0];
    double value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (found->second.size() != 1 || error != std::errc() || end != text.data() + text.size() ||
        !(value > 0) || !(value < 1e30))
      return failAt({path_}, ErrorCode::E0604,
                    "{} of a [[{}]]: found \"{}\", want a number above 0", key, table.name,
                    fmt::join(found->second, ", "));
    return value;
  }

  /// One device; E0604 for anything else.
  Result<DeviceName> deviceNamed(const std::string &text) const {
    Result<std::vector<DeviceName>> names = parseDevices(text);
    if (!names.ok() || names->size() != 1)
      return failAt({path_}, ErrorCode::E0604,
                    "found \"{}\", want the name of one device, as \"cpu:0\"", text);
    return names->front();
  }

  Status addDevice(const Table &table) {
    LSTMC_TRY(check(table, {"name", "memory", "flops_per_s", "bytes_per_s", "launch_s"}));
    for (const char *needed : {"name", "memory"})
      if (auto found = table.values.find(needed);
          found == table.values.end() || found->second.size() != 1)
        return failAt({path_}, ErrorCode::E0604, "a [[device]] without {}", needed);
    LSTMC_ASSIGN(DeviceName name, deviceNamed(table.values.at("name")[0]));
    if (std::find(cluster_.devices.begin(), cluster_.devices.end(), name) != cluster_.devices.end())
      return failAt({path_}, ErrorCode::E0612, "device {} stands twice", name.text());
    std::optional<int64_t> memory = scaledNumber(table.values.at("memory")[0], 1024);
    if (!memory || *memory < 1)
      return failAt({path_}, ErrorCode::E0604,
                    "memory of {}: found \"{}\", want bytes (K, M, G are powers of 1,024)",
                    name.text(), table.values.at("memory")[0]);
    const target::Target &target = targetOf(name.kind);
    target::Speeds speeds = target.speeds({});
    LSTMC_ASSIGN(speeds.flopsPerSecond, number(table, "flops_per_s", speeds.flopsPerSecond));
    LSTMC_ASSIGN(speeds.bytesPerSecond, number(table, "bytes_per_s", speeds.bytesPerSecond));
    LSTMC_ASSIGN(speeds.launchSeconds, number(table, "launch_s", speeds.launchSeconds));
    cluster_.devices.push_back(name);
    cluster_.memory.push_back(uint64_t(*memory));
    cluster_.machines.push_back(target.withSpeeds(speeds));
    return {};
  }

  Status addLink(const Table &table) {
    LSTMC_TRY(check(table, {"between", "bytes_per_s", "latency_s"}));
    target::Link link;
    LSTMC_ASSIGN(link.bytesPerSecond, number(table, "bytes_per_s", link.bytesPerSecond));
    LSTMC_ASSIGN(link.seconds, number(table, "latency_s", link.seconds));
    auto between = table.values.find("between");
    if (between == table.values.end()) {
      for (target::Machine &machine : cluster_.machines)
        machine.links.assign(cluster_.machines.size(), link);
      return {};
    }
    std::vector<size_t> ends;
    for (const std::string &text : between->second) {
      LSTMC_ASSIGN(DeviceName name, deviceNamed(text));
      auto found = std::find(cluster_.devices.begin(), cluster_.devices.end(), name);
      if (found == cluster_.devices.end())
        return failAt({path_}, ErrorCode::E0604, "a [[link]] names {}, which is no [[device]]",
                      name.text());
      ends.push_back(size_t(found - cluster_.devices.begin()));
    }
    if (ends.size() != 2 || ends[0] == ends[1])
      return failAt({path_}, ErrorCode::E0604, "`between` of a [[link]] has {} devices, want two",
                    ends.size());
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

Result<Cluster> readCluster(const std::string &path) { return Reader(path).read(); }

Result<Cluster> chosen(const Cluster &cluster, const std::vector<DeviceName> &names) {
  Cluster part;
  std::vector<size_t> at;
  for (const DeviceName &name : names) {
    auto found = std::find(cluster.devices.begin(), cluster.devices.end(), name);
    if (found == cluster.devices.end())
      return fail(ErrorCode::E0001, "--devices has {}, which the cluster has not", name.text());
    at.push_back(size_t(found - cluster.devices.begin()));
  }
  for (size_t to : at) {
    part.devices.push_back(cluster.devices[to]);
    part.memory.push_back(cluster.memory[to]);
    target::Machine &machine = part.machines.emplace_back(cluster.machines[to]);
    machine.links.clear();
    for (size_t from : at)
      machine.links.push_back(cluster.machines[to].linkFrom(uint32_t(from)));
  }
  return part;
}

} // namespace lstmc::planning
