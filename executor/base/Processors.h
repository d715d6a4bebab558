// How many processors this process may use at once.
#pragma once

#include <string>
#include <vector>

#include "executor/base/Status.h"

namespace lstmc {

/// A number of processors, and what allows no more.
struct ProcessorLimit {
  enum class Kind {
    Affinity, ///< those that the scheduler may choose (sched_getaffinity)
    Quota,    ///< processor time of a control group, in whole processors, rounded down
    Cores,    ///< physical cores among those of the affinity
  };
  Kind kind = Kind::Affinity;
  int count = 1;  ///< at least 1
  std::string by; ///< "affinity", "control group /sys/fs/cgroup/job", "physical cores"
};

/// The quotas of the process's control groups: cpu.max (version 2), cpu.cfs_quota_us over
/// cpu.cfs_period_us (version 1). `process` is a folder like /proc/self.
std::vector<ProcessorLimit> quotaLimits(const std::string &process);

/// How many of `processors` share no physical core, by `system`, a folder like
/// /sys/devices/system/cpu. A processor without an entry there counts as a core.
int physicalCores(const std::vector<int> &processors, const std::string &system);

/// All limits of this process, the affinity first. Quotas are read once.
std::vector<ProcessorLimit> processorLimits();

/// The least of affinity and quotas: threads beyond it take turns.
int availableProcessors();

/// Threads that a process uses unless told otherwise: the least of all limits.
int defaultThreads();

/// That number and the limit it comes from: "2 threads by default (affinity)".
std::string defaultThreadsText();

/// For each of `devices` devices of this process: LSTMC_THREADS if it is set and not 0, otherwise
/// an equal part of the default. E0001 if LSTMC_THREADS is no number from 0 to 1024.
Result<int> defaultThreadsOf(size_t devices);

} // namespace lstmc
