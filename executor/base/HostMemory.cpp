#include "executor/base/HostMemory.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string_view>

#include <unistd.h>

#include "executor/base/ControlGroups.h"
#include "executor/base/ParseNumber.h"

namespace lstmc {

namespace {

std::string firstLine(const std::string &file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

/// Reads NUMBER from the line `field NUMBER` of a file; 0 if the file has no such line.
uint64_t fieldOf(const std::string &file, std::string_view field) {
  std::ifstream stream(file);
  std::string name;
  for (uint64_t number = 0; stream >> name;) {
    if (name == field)
      return stream >> number ? number : 0;
    std::getline(stream, name); // the rest of the line
  }
  return 0;
}

/// Files of a version of control groups, and a field of its memory.stat.
struct MemoryFiles {
  std::string_view limit, usage, droppable;
};

constexpr MemoryFiles kFiles[] = {
    {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"},
    {"memory.max", "memory.current", "inactive_file"}};

std::optional<MemoryLimit> limitOf(const ControlGroup &group) {
  const MemoryFiles &files = kFiles[group.version - 1];
  auto bytesIn = [&](std::string_view file) {
    return parseNumber<uint64_t>(firstLine(group.folder + "/" + std::string(file)));
  };
  const std::optional<uint64_t> bytes = bytesIn(files.limit);
  if (!bytes)
    return std::nullopt;
  const uint64_t used = bytesIn(files.usage).value_or(0),
                 dropped = fieldOf(group.folder + "/memory.stat", files.droppable);
  return MemoryLimit{*bytes, used - std::min(used, dropped), "control group " + group.folder};
}

} // namespace

std::vector<MemoryLimit> controlGroupLimits(const std::string &process) {
  std::vector<MemoryLimit> limits;
  for (const ControlGroup &group : controlGroups(process, "memory"))
    if (std::optional<MemoryLimit> limit = limitOf(group))
      limits.push_back(std::move(*limit));
  return limits;
}

std::vector<MemoryLimit> slurmLimits(const std::function<const char *(const char *)> &variable) {
  constexpr uint64_t kMiB = uint64_t(1) << 20; // Slurm counts in these
  constexpr uint64_t kMost = uint64_t(1) << 40;
  auto numberOf = [&](const char *name) -> uint64_t {
    const char *text = variable(name);
    const std::optional<uint64_t> number = parseNumber<uint64_t>(text ? text : "");
    return number && *number < kMost ? *number : 0; // 0: all that the node has
  };
  std::vector<MemoryLimit> limits;
  auto add = [&](const char *name, uint64_t times) {
    if (const uint64_t mebibytes = numberOf(name);
        mebibytes > 0 && times > 0 && times < kMost / mebibytes)
      limits.push_back({mebibytes * times * kMiB, 0, name});
  };
  add("SLURM_MEM_PER_NODE", 1);
  add("SLURM_MEM_PER_CPU", numberOf("SLURM_CPUS_ON_NODE"));
  return limits;
}

HostMemory hostMemory() {
  HostMemory memory;
  memory.bytes = uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGE_SIZE));
  memory.free = fieldOf("/proc/meminfo", "MemAvailable:") << 10;
  std::vector<MemoryLimit> limits = controlGroupLimits("/proc/self");
  std::ranges::move(slurmLimits([](const char *name) { return std::getenv(name); }),
                    std::back_inserter(limits));
  for (const MemoryLimit &limit : limits) {
    if (limit.bytes < memory.bytes) {
      memory.bytes = limit.bytes;
      memory.limitedBy = limit.by;
    }
    memory.free = std::min(memory.free, limit.bytes - std::min(limit.bytes, limit.used));
  }
  return memory;
}

uint64_t ownMemoryBytes() { return fieldOf("/proc/self/status", "RssAnon:") << 10; }

} // namespace lstmc
