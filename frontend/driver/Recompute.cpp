#include "frontend/driver/Recompute.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "frontend/symbol/View.h"

namespace lstmc::driver {

/// Names that a message shows at most.
static constexpr size_t kShown = 12;

/// The steps in segments: about the root of their number, or so many.
static constexpr std::string_view kSteps = "steps", kStepsInto = "steps=";
static constexpr int64_t kMostSegments = 65536;

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

} // namespace

static std::string shown(std::vector<std::string> names) {
  size_t more = names.size() - std::min(names.size(), kShown);
  names.resize(names.size() - more);
  return fmt::format("{}{}", fmt::join(names, ", "), more ? fmt::format(" and {} more", more) : "");
}

Status readRecompute(const MemoryOptions &options, const symbol::Graph &graph,
                     passes::CompileOptions &compile) {
  if (*options.recompute == "none")
    return {};
  for (const std::string &name : splitCommas(*options.recompute)) {
    if (name != kSteps && !name.starts_with(kStepsInto)) {
      compile.recompute.push_back(name);
      continue;
    }
    compile.segments = passes::kChosen;
    if (name != kSteps) {
      LSTMC_ASSIGN(compile.segments,
                   Count::parse("--recompute steps", name.substr(kStepsInto.size())));
      if (compile.segments < 2 || compile.segments > kMostSegments)
        return fail(ErrorCode::E0001, "--recompute steps=N takes 2 to {} segments, got {}",
                    kMostSegments, compile.segments);
    }
  }
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
                  *options.recompute, name, names.groups.empty() ? "none" : shown(names.groups),
                  names.layers.empty() ? "none" : shown(names.layers), didYouMean(name, known));
    }
  return {};
}

std::set<std::string> opsOf(const symbol::Graph &graph) { return Names(graph).ops; }

} // namespace lstmc::driver
