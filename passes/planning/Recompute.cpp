#include "passes/planning/Recompute.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "backends/registry/Targets.h"
#include "executor/package/Plan.h"

namespace lstmc::planning {

namespace {

/// With fewer steps, segments are hardly smaller than the states kept between them.
constexpr int64_t kLeastSteps = 16;

/// A layer that can be recomputed.
struct Candidate {
  std::string name;
  double seconds = 0;
  std::map<uint32_t, uint64_t> bytes = {}; ///< at the peak, by device

  uint64_t allBytes() const {
    uint64_t all = 0;
    for (auto [device, held] : bytes)
      all += held;
    return all;
  }
  double cost() const { return seconds / double(std::max<uint64_t>(1, allBytes())); }
};

} // namespace

/// Layers of a stack, "lstm_l0" and the like, are one op of the net.
static std::string nameInNet(const std::string &op, const std::set<std::string> &ops) {
  std::string stack = op.substr(0, op.rfind('_'));
  return ops.contains(op) ? op : ops.contains(stack) ? stack : "";
}

std::vector<std::vector<std::string>> layersToRecompute(const package::PackageData &data,
                                                        const std::set<std::string> &ops,
                                                        const target::Machines &machines,
                                                        const Capacities &capacities) {
  const KernelRecord &kernel = kernelRecord(KernelId::RnnForward);
  std::vector<Candidate> found;
  auto candidate = [&](const std::string &name) -> Candidate & {
    auto known = std::find_if(found.begin(), found.end(),
                              [&](const Candidate &c) { return c.name == name; });
    return known != found.end() ? *known : found.emplace_back(Candidate{name});
  };
  std::map<uint32_t, uint64_t> over;
  std::vector<package::DevicePlan> plans = package::planOf(data, data.buffers.size());
  for (uint32_t device = 0; device < plans.size(); ++device) {
    const package::DevicePlan &plan = plans[device];
    const target::Target &target = targetOf(plan.device);
    if (plan.arenaBytes <= capacities[device] || plan.peakEntry == package::kPersistent ||
        data.entries[size_t(plan.peakEntry)].name != "step")
      continue;
    over[device] = plan.arenaBytes - capacities[device];
    std::set<uint32_t> alive(plan.largest.begin(), plan.largest.end());
    for (const package::DeviceProgram &program : data.entries[size_t(plan.peakEntry)].programs) {
      if (program.device != device)
        continue;
      for (const package::Operand &needed : program.launches[plan.peakLaunch].operands)
        alive.erase(needed.buffer);
      for (const package::Launch &launch : program.launches) {
        std::string name = nameInNet(data.locations[launch.location].name, ops);
        if (launch.kernel != KernelId::RnnForward || name.empty())
          continue;
        Candidate &layer = candidate(name);
        layer.seconds += target.launchSeconds(machines[machines.size() == 1 ? 0 : device],
                                              launch.kernel, target::workOf(data, launch));
        for (const char *kept : {"gates", "cells", "before"})
          if (uint32_t buffer = launch.operands[size_t(kernel.operand(kept))].buffer;
              alive.erase(buffer))
            layer.bytes[device] += data.buffers[buffer].bytes;
      }
    }
  }
  std::erase_if(found, [](const Candidate &c) { return c.bytes.empty(); });
  std::vector<const Candidate *> cheapest; // of equal cost in the order of the program
  for (const Candidate &one : found)
    cheapest.push_back(&one);
  std::ranges::sort(cheapest, {}, [](const Candidate *one) { return std::pair(one->cost(), one); });
  size_t enough = 0;
  while (enough < cheapest.size() &&
         std::any_of(over.begin(), over.end(), [](const auto &left) { return left.second > 0; }))
    for (auto [device, bytes] : cheapest[enough++]->bytes)
      over[device] -= std::min(over[device], bytes);
  std::vector<std::vector<std::string>> attempts;
  for (size_t count = enough;
       count > 0 && (attempts.empty() || attempts.back().size() < cheapest.size()); count *= 2) {
    attempts.emplace_back();
    for (size_t i = 0; i < std::min(count, cheapest.size()); ++i)
      attempts.back().push_back(cheapest[i]->name);
  }
  return attempts;
}

std::vector<std::string> stepsToRecompute(const package::PackageData &data) {
  int64_t steps = 0;
  for (const package::Entry &entry : data.entries)
    for (const package::DeviceProgram &program : entry.programs)
      for (const package::Launch &launch : program.launches) {
        if (entry.name != "step")
          continue;
        if (launch.kernel == KernelId::RnnForward)
          steps = std::max(steps, launch.operands[RnnForwardOperand::y].shape[0]);
        if (launch.kernel == KernelId::WeightGradient &&
            (argumentsOf<WeightGradientArguments>(launch).range.count > 1 ||
             launch.operands[WeightGradientOperand::begin].buffer != package::kNoBuffer))
          return {};
      }
  if (steps < kLeastSteps)
    return {};
  return {"steps", fmt::format("steps={}", 2 * std::llround(std::sqrt(double(steps))))};
}

} // namespace lstmc::planning
