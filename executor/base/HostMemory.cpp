#include "executor/base/HostMemory.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

#include <unistd.h>

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

/// How a version of control groups is found and read.
struct Version {
  std::string_view type;                       ///< of its file system
  std::string_view limit, usage, droppable;    ///< files, and a field of memory.stat
  bool (*named)(std::string_view controllers); ///< in a line of /proc/self/cgroup
};

bool isMemory(std::string_view controllers) {
  for (size_t begin = 0; begin <= controllers.size();) {
    const size_t end = std::min(controllers.find(',', begin), controllers.size());
    if (controllers.substr(begin, end - begin) == "memory")
      return true;
    begin = end + 1;
  }
  return false;
}

constexpr Version kVersions[] = {
    {"cgroup2", "memory.max", "memory.current", "inactive_file",
     [](std::string_view controllers) { return controllers.empty(); }},
    {"cgroup", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file", isMemory}};

struct Mount {
  std::string root, point; ///< which group is there
};

/// The octal escapes of mountinfo: of spaces, tabs, newlines and backslashes.
std::string unescaped(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\\' && i + 3 < text.size()) {
      plain += char((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  return plain;
}

/// `ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [FIELDS] - TYPE SOURCE SUPER-OPTIONS`
std::vector<Mount> mountsOf(const Version &version, const std::string &mountinfo) {
  std::vector<Mount> mounts;
  std::ifstream stream(mountinfo);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string skipped, root, point, type, source, options;
    words >> skipped >> skipped >> skipped >> root >> point;
    for (std::string word; words >> word && word != "-";) {
    }
    words >> type >> source >> options;
    if (type == version.type && (type == "cgroup2" || isMemory(options)))
      mounts.push_back({unescaped(root), unescaped(point)});
  }
  return mounts;
}

/// The path of the process's group; none where the version is not in use.
std::optional<std::string> groupOf(const Version &version, const std::string &cgroup) {
  std::ifstream stream(cgroup);
  for (std::string line; std::getline(stream, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second != std::string::npos &&
        version.named(std::string_view(line).substr(first + 1, second - first - 1)))
      return line.substr(second + 1);
  }
  return std::nullopt;
}

/// Returns the limit of the control group in a folder.
std::optional<MemoryLimit> limitIn(const Version &version, const std::string &folder) {
  const std::optional<uint64_t> bytes =
      parseNumber<uint64_t>(firstLine(folder + "/" + std::string(version.limit)));
  if (!bytes)
    return std::nullopt;
  const uint64_t used = parseNumber<uint64_t>(firstLine(folder + "/" + std::string(version.usage)))
                            .value_or(0),
                 dropped = fieldOf(folder + "/memory.stat", version.droppable);
  return MemoryLimit{*bytes, used - std::min(used, dropped), "control group " + folder};
}

} // namespace

std::vector<MemoryLimit> controlGroupLimits(const std::string &process) {
  std::vector<MemoryLimit> limits;
  for (const Version &version : kVersions) {
    const std::optional<std::string> group = groupOf(version, process + "/cgroup");
    if (!group)
      continue;
    for (const Mount &mount : mountsOf(version, process + "/mountinfo")) {
      // What a container sees of the tree begins at `root`; a group outside of that is not seen.
      const std::string root = mount.root == "/" ? "" : mount.root;
      std::string below = group->starts_with(root) ? group->substr(root.size()) : "";
      while (true) {
        while (below.ends_with('/'))
          below.pop_back();
        if (std::optional<MemoryLimit> limit = limitIn(version, mount.point + below))
          limits.push_back(std::move(*limit));
        if (below.empty())
          break;
        below.resize(below.rfind('/'));
      }
    }
  }
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
