#include "frontend/cli/Recompute.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/ranges.h>

#include "executor/package/Plan.h"
#include "frontend/symbol/View.h"

namespace lstmc::cli {

/// Names that a message shows at most.
static constexpr size_t kShown = 12;

namespace {

/// Groups in the order of the source, and ops; layers are those that work with parameters.
struct Names {
  std::vector<std::string> groups, layers;
  std::set<std::string> ops;

  explicit Names(const symbol::Graph &graph) {
    symbol::GraphView view = symbol::view(graph);
    std::vector<bool> parameters; // by node: one, or made of them alone
    for (const symbol::NodeView &node : view.nodes) {
      bool isOp = node.kind == symbol::NodeView::Kind::Op;
      auto isParameter = [&](const auto &input) {
        return !input.second.input && parameters[input.second.index];
      };
      bool all = isOp && !node.inputs.empty() &&
                 std::all_of(node.inputs.begin(), node.inputs.end(), isParameter);
      parameters.push_back(node.kind == symbol::NodeView::Kind::Variable || all);
      if (!isOp)
        continue;
      ops.insert(node.name);
      if (!all && std::any_of(node.inputs.begin(), node.inputs.end(), isParameter))
        layers.push_back(node.name);
      if (!node.group.empty() &&
          std::find(groups.begin(), groups.end(), node.group) == groups.end())
        groups.push_back(node.group);
    }
  }
};

/// A layer that may be run again.
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

static std::string shown(std::vector<std::string> names) {
  size_t more = names.size() - std::min(names.size(), kShown);
  names.resize(names.size() - more);
  return fmt::format("{}{}", fmt::join(names, ", "), more ? fmt::format(" and {} more", more) : "");
}

Status readRecompute(const Options &options, const symbol::Graph &graph,
                     passes::CompileOptions &compile) {
  if (options.text("recompute") == "none")
    return {};
  compile.recompute = splitCommas(options.text("recompute"));
  if (compile.recompute.empty())
    return {};
  Names names(graph);
  for (const std::string &name : compile.recompute)
    if (!names.ops.contains(name) &&
        std::find(names.groups.begin(), names.groups.end(), name) == names.groups.end()) {
      std::vector<std::string_view> known(names.groups.begin(), names.groups.end());
      known.insert(known.end(), names.ops.begin(), names.ops.end());
      return fail(ErrorCode::E0001,
                  "--recompute {}: the net has no group or layer \"{}\"; groups: {}; layers: {}{}",
                  options.text("recompute"), name,
                  names.groups.empty() ? "none" : shown(names.groups),
                  names.layers.empty() ? "none" : shown(names.layers), didYouMean(name, known));
    }
  return {};
}

/// Layers of a stack, "lstm_l0" and the like, are one op of the net.
static std::string nameInNet(const std::string &op, const Names &names) {
  std::string stack = op.substr(0, op.rfind('_'));
  return names.ops.contains(op) ? op : names.ops.contains(stack) ? stack : "";
}

std::vector<std::vector<std::string>> layersToRecompute(const package::PackageData &data,
                                                        const symbol::Graph &graph,
                                                        const cpu::Machines &machines,
                                                        const Capacities &capacities) {
  const KernelRecord &kernel = kernelRecord(KernelId::RnnForward);
  Names names(graph);
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
        std::string name = nameInNet(data.locations[launch.location].name, names);
        if (launch.kernel != KernelId::RnnForward || name.empty())
          continue;
        Candidate &layer = candidate(name);
        layer.seconds += machines[machines.size() == 1 ? 0 : device].secondsOf(
            launch.kernel, cpu::workOf(data, launch));
        for (const char *kept : {"gates", "cells", "before"})
          if (uint32_t buffer = launch.operands[size_t(kernel.operand(kept))].buffer;
              alive.erase(buffer))
            layer.bytes[device] += data.buffers[buffer].bytes;
      }
    }
  }
  std::erase_if(found, [](const Candidate &c) { return c.bytes.empty(); });
  std::stable_sort(found.begin(), found.end(),
                   [](const Candidate &a, const Candidate &b) { return a.cost() < b.cost(); });
  size_t enough = 0;
  while (enough < found.size() &&
         std::any_of(over.begin(), over.end(), [](const auto &left) { return left.second > 0; }))
    for (auto [device, bytes] : found[enough++].bytes)
      over[device] -= std::min(over[device], bytes);
  std::vector<std::vector<std::string>> attempts;
  for (size_t count = enough;
       count > 0 && (attempts.empty() || attempts.back().size() < found.size()); count *= 2) {
    attempts.emplace_back();
    for (size_t i = 0; i < std::min(count, found.size()); ++i)
      attempts.back().push_back(found[i].name);
  }
  return attempts;
}

} // namespace lstmc::cli
