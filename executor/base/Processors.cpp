#include "executor/base/Processors.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <set>
#include <thread>

#include <sched.h>

#include "executor/base/ControlGroups.h"
#include "executor/base/ParseNumber.h"

namespace lstmc {

namespace {

std::string wordOf(std::istream &stream) {
  std::string word;
  stream >> word;
  return word;
}

/// Quota and period in microseconds; `max` and -1, which are no quota, are not positive numbers.
std::optional<double> processorsOf(const ControlGroup &group) {
  std::string quota, period;
  if (group.version == 2) {
    std::ifstream file(group.folder + "/cpu.max");
    quota = wordOf(file);
    period = wordOf(file);
  } else {
    std::ifstream first(group.folder + "/cpu.cfs_quota_us"),
        second(group.folder + "/cpu.cfs_period_us");
    quota = wordOf(first);
    period = wordOf(second);
  }
  const std::optional<int64_t> allowed = parseNumber<int64_t>(quota),
                               each = parseNumber<int64_t>(period);
  if (!allowed || !each || *allowed <= 0 || *each <= 0)
    return std::nullopt;
  return double(*allowed) / double(*each);
}

/// Processors that the scheduler may choose. The set has as many bits as the kernel has.
std::vector<int> affinity() {
  for (int most = 1024; most <= 1 << 20; most *= 2) {
    cpu_set_t *set = CPU_ALLOC(most);
    if (!set)
      break;
    const size_t bytes = CPU_ALLOC_SIZE(most);
    const bool known = sched_getaffinity(0, bytes, set) == 0;
    std::vector<int> processors;
    for (int i = 0; known && i < most; ++i)
      if (CPU_ISSET_S(i, bytes, set))
        processors.push_back(i);
    CPU_FREE(set);
    if (!processors.empty())
      return processors;
  }
  std::vector<int> all(std::max(1u, std::thread::hardware_concurrency()));
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = int(i);
  return all;
}

/// The lowest limit, and the first of equal ones.
ProcessorLimit least(const std::vector<ProcessorLimit> &limits) {
  return *std::ranges::min_element(limits, {}, &ProcessorLimit::count);
}

} // namespace

std::vector<ProcessorLimit> quotaLimits(const std::string &process) {
  constexpr double kMost = 1 << 20;
  std::vector<ProcessorLimit> limits;
  for (const ControlGroup &group : controlGroups(process, "cpu"))
    if (const std::optional<double> processors = processorsOf(group))
      limits.push_back({ProcessorLimit::Kind::Quota, int(std::clamp(*processors, 1.0, kMost)),
                        "control group " + group.folder});
  return limits;
}

int physicalCores(const std::vector<int> &processors, const std::string &system) {
  std::set<std::string> cores;
  for (int processor : processors) {
    const std::string number = std::to_string(processor);
    std::ifstream file(system + "/cpu" + number + "/topology/thread_siblings_list");
    const std::string siblings = wordOf(file);
    cores.insert(siblings.empty() ? "cpu" + number : siblings);
  }
  return std::max(1, int(cores.size()));
}

std::vector<ProcessorLimit> processorLimits() {
  static const std::vector<ProcessorLimit> quotas = quotaLimits("/proc/self");
  const std::vector<int> processors = affinity();
  std::vector<ProcessorLimit> limits = {
      {ProcessorLimit::Kind::Affinity, int(processors.size()), "affinity"}};
  limits.insert(limits.end(), quotas.begin(), quotas.end());
  limits.push_back({ProcessorLimit::Kind::Cores,
                    physicalCores(processors, "/sys/devices/system/cpu"), "physical cores"});
  return limits;
}

int availableProcessors() {
  std::vector<ProcessorLimit> limits = processorLimits();
  std::erase_if(limits, [](const ProcessorLimit &limit) {
    return limit.kind == ProcessorLimit::Kind::Cores;
  });
  return least(limits).count;
}

int defaultThreads() { return least(processorLimits()).count; }

std::string defaultThreadsText() {
  const ProcessorLimit limit = least(processorLimits());
  return fmt::format("{} {} by default ({})", limit.count, limit.count == 1 ? "thread" : "threads",
                     limit.by);
}

Result<int> defaultThreadsOf(size_t devices) {
  constexpr int kMost = 1024;
  if (const char *text = std::getenv("LSTMC_THREADS"); text && *text) {
    const std::optional<int> threads = parseNumber<int>(text);
    if (!threads || *threads < 0 || *threads > kMost)
      return fail(ErrorCode::E0001, "LSTMC_THREADS: found \"{}\", want a number from 0 to {}", text,
                  kMost);
    if (*threads > 0)
      return *threads;
  }
  return std::max(1, defaultThreads() / std::max(1, int(devices)));
}

} // namespace lstmc
