#include "passes/planning/Cluster.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "backends/registry/Targets.h"
#include "executor/base/NumberText.h"
#include "executor/base/ParseNumber.h"
#include "executor/base/Suggest.h"
#include "passes/planning/ClusterReader.h"

namespace lstmc::planning {

Result<Cluster> readCluster(const std::string &path) {
  LSTMC_ASSIGN(std::vector<ClusterTable> tables, readTables(path));
  bool hosts = false, devices = false;
  for (const ClusterTable &table : tables) {
    if (table.name != "device" && table.name != "link" && table.name != "host")
      return failAt(table.place, ErrorCode::E0604,
                    "found [[{}]], want [[device]], [[link]] and [[host]]", table.name);
    (table.name == "host" ? hosts : devices) = true;
    if (hosts && devices)
      return failAt(table.place, ErrorCode::E0604,
                    "found [[{}]] in a file that has {} already: hosts have devices and an "
                    "interface of their own, and devices and links no hosts",
                    table.name, table.name == "host" ? "[[device]] or [[link]]" : "[[host]]");
  }
  return hosts ? readHosts(path, tables) : readDevices(path, tables);
}

/// The row of the device, or of the GPU that it is a partition of.
static std::vector<DeviceName>::const_iterator rowOf(const Cluster &cluster,
                                                     const DeviceName &device) {
  auto row = std::ranges::find(cluster.devices, device);
  if (row == cluster.devices.end())
    row = std::ranges::find(cluster.devices, DeviceName{device.kind, device.index});
  return row;
}

Result<Cluster> chosen(const Cluster &cluster, const std::vector<DeviceName> &names) {
  Cluster part;
  part.hosts = cluster.hosts;
  std::vector<size_t> at;
  for (const DeviceName &name : names) {
    const auto found = rowOf(cluster, name);
    if (found == cluster.devices.end())
      return fail(ErrorCode::E0001, "--devices has {}, which the cluster has not", name.text());
    at.push_back(size_t(found - cluster.devices.begin()));
  }
  part.devices = names;
  for (size_t to : at) {
    part.memory.push_back(cluster.memory[to]);
    target::Machine &machine = part.machines.emplace_back(cluster.machines[to]);
    if (machine.host >= 0)
      continue;
    machine.links.clear();
    for (size_t from : at)
      machine.links.push_back(cluster.machines[to].linkFrom(uint32_t(from)));
  }
  return part;
}

//===---- values ------------------------------------------------------------------------------===//

static std::string meant(const std::string &key, const std::vector<std::string_view> &known) {
  std::string suggestion = didYouMean(key, known);
  return suggestion.empty() ? suggestion : "; " + suggestion;
}

Status TableReader::check(const std::vector<std::string_view> &known) const {
  for (const ClusterValue &value : table.values)
    if (std::find(known.begin(), known.end(), value.key) == known.end())
      return failAt(value.place, ErrorCode::E0604, "[[{}]] has no \"{}\", it has {}{}", table.name,
                    value.key, fmt::join(known, ", "), meant(value.key, known));
  return {};
}

Error TableReader::wrong(const ClusterValue &value, std::string_view want) const {
  return failAt(value.place, ErrorCode::E0604, "{} of a [[{}]]: found \"{}\", want {}", value.key,
                table.name, fmt::join(value.items, ", "), want);
}

static std::optional<double> positive(const std::string &text) {
  std::optional<double> value = parseNumber<double>(text);
  return value && *value > 0 && *value < 1e30 ? value : std::nullopt;
}

Result<std::vector<double>> TableReader::numbers(std::string_view key, double otherwise,
                                                 size_t most) const {
  const ClusterValue *value = table.find(key);
  std::vector<double> numbers;
  if (!value)
    return std::vector<double>(most, otherwise);
  for (const std::string &text : value->items)
    if (std::optional<double> number = positive(text))
      numbers.push_back(*number);
  if (numbers.size() != value->items.size() || (numbers.size() != 1 && numbers.size() != most))
    return wrong(*value,
                 most == 1 ? "a number above 0" : "a number above 0, or two: [sending, receiving]");
  numbers.resize(most, numbers.front());
  return numbers;
}

Result<double> TableReader::number(std::string_view key, double otherwise) const {
  LSTMC_ASSIGN(std::vector<double> one, numbers(key, otherwise, 1));
  return one.front();
}

Result<int64_t> TableReader::count(std::string_view key, int64_t otherwise, int64_t most) const {
  const ClusterValue *value = table.find(key);
  if (!value)
    return otherwise;
  std::optional<int64_t> number;
  if (value->items.size() == 1)
    number = scaledNumber(value->items[0], 1000);
  if (!number || *number < 1 || *number > most)
    return wrong(*value, fmt::format("a whole number from 1 to {}", most));
  return *number;
}

Result<std::string> TableReader::needed(std::string_view key) const {
  const ClusterValue *value = table.find(key);
  if (!value)
    return failAt(table.place, ErrorCode::E0604, "a [[{}]] without {}", table.name, key);
  if (value->items.size() != 1)
    return wrong(*value, "one value");
  return value->items[0];
}

Result<uint64_t> TableReader::memory(std::string_view name, uint64_t otherwise) const {
  if (otherwise && !table.find("memory"))
    return otherwise;
  LSTMC_ASSIGN(std::string text, needed("memory"));
  std::optional<int64_t> bytes = scaledNumber(text, 1024);
  if (!bytes || *bytes < 1)
    return failAt(table.find("memory")->place, ErrorCode::E0604,
                  "memory of {}: found \"{}\", want bytes (K, M, G are powers of 1,024)", name,
                  text);
  return uint64_t(*bytes);
}

Result<target::KnownMachine> TableReader::kind(DeviceKind device) const {
  const ClusterValue *value = table.find("kind");
  if (!value)
    return target::KnownMachine{};
  const std::span<const target::KnownMachine> all = targetOf(device).knownMachines();
  if (all.empty())
    return wrong(*value, "none: only a gpu has a kind");
  std::vector<std::string_view> names;
  for (const target::KnownMachine &known : all)
    names.push_back(known.name);
  const std::string text = value->items.size() == 1 ? value->items[0] : "";
  auto found = std::ranges::find(names, text);
  if (found == names.end())
    return wrong(*value, fmt::format("one of {}{}", fmt::join(names, ", "), meant(text, names)));
  return all[size_t(found - names.begin())];
}

Result<target::Speeds> TableReader::speeds(target::Speeds speeds) const {
  LSTMC_ASSIGN(speeds.flopsPerSecond, number("flops_per_s", speeds.flopsPerSecond));
  LSTMC_ASSIGN(speeds.bytesPerSecond, number("bytes_per_s", speeds.bytesPerSecond));
  LSTMC_ASSIGN(speeds.launchSeconds, number("launch_s", speeds.launchSeconds));
  return speeds;
}

} // namespace lstmc::planning
