// How much memory this process may use.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace lstmc {

/// A limit below what the machine has, by whoever set it.
struct MemoryLimit {
  uint64_t bytes = 0;
  uint64_t used =
      0;          ///< of it by all whom it holds for, without what the system can drop; 0: unknown
  std::string by; ///< "control group /sys/fs/cgroup/job", "SLURM_MEM_PER_NODE"
};

/// What the machine has, or the lowest limit if that is less: of this process's control group
/// (memory.max of version 2, memory.limit_in_bytes of version 1), of any group that it is in, or of
/// Slurm's allocation on this node.
struct HostMemory {
  uint64_t bytes = 0;
  uint64_t free = 0;     ///< of `bytes`
  std::string limitedBy; ///< empty: the machine
};
HostMemory hostMemory();

/// Limits of control groups as a folder like /proc/self tells of them (`cgroup`, `mountinfo`).
std::vector<MemoryLimit> controlGroupLimits(const std::string &process);
/// Those of Slurm; `variable` is the environment.
std::vector<MemoryLimit> slurmLimits(const std::function<const char *(const char *)> &variable);

/// Bytes in memory that this process alone has and the system cannot drop; 0 if it does not say.
uint64_t ownMemoryBytes();

} // namespace lstmc
