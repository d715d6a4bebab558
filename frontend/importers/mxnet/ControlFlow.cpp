#include "frontend/importers/mxnet/ControlFlow.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "executor/base/Quote.h"
#include "frontend/importers/mxnet/AttributeText.h"
#include "frontend/symbol/KnownValues.h"

namespace lstmc::importers::mxnet {

using symbol::Origin, symbol::Symbol;
using Symbols = ControlFlow::Symbols;

constexpr std::string_view kForeach = "_foreach", kWhileLoop = "_while_loop", kCond = "_cond";

bool isControlFlow(std::string_view op) {
  return op == kForeach || op == kWhileLoop || op == kCond;
}

/// A node, what it reads, and what its attributes say.
struct ControlFlow::Node {
  const SymbolFile &file;
  Host &host;
  uint32_t number;
  const Symbols &inputs;
  Origin place;

  std::span<const uint32_t> graphs() const { return file.subgraphs(number); }
  std::string text() const {
    return fmt::format("{} {}", file.op(number), inQuotes(file.name(number)));
  }
  template <typename... Args>
  std::nullopt_t refuse(ErrorCode code, fmt::format_string<Args...> format, Args &&...args) const {
    host.report(code, place, text() + ": " + fmt::format(format, std::forward<Args>(args)...));
    return std::nullopt;
  }

  std::string_view attribute(std::string_view key) const {
    for (auto [name, value] : file.attributes(number))
      if (name == key)
        return value;
    return {};
  }
  std::optional<size_t> count(std::string_view key) const {
    std::optional<symbol::AttributeValue> value =
        attributeValue(attribute(key), symbol::OpAttribute::Kind::Integer);
    const int64_t *number = value ? std::get_if<int64_t>(&*value) : nullptr;
    if (number && *number >= 0)
      return size_t(*number);
    return refuse(ErrorCode::E0605, "{} is a number from 0, found {}", key,
                  inQuotes(attribute(key)));
  }
  /// Positions below `end`.
  std::optional<std::vector<size_t>> places(std::string_view key, size_t end) const {
    std::vector<size_t> found;
    std::optional<symbol::Tuple> numbers = tupleOf(attribute(key));
    for (std::optional<int64_t> each : numbers.value_or(symbol::Tuple{-1})) {
      if (!each || *each < 0 || size_t(*each) >= end)
        return refuse(ErrorCode::E0605, "{} is a list of numbers below {}, found {}", key, end,
                      inQuotes(attribute(key)));
      found.push_back(size_t(*each));
    }
    return found;
  }
  /// For each input of subgraph `which`, the input of the node.
  std::optional<std::vector<size_t>> inputsOf(size_t which, std::string_view key) const {
    auto found = places(key, inputs.size());
    const size_t wanted = host.inputsOf(graphs()[which]);
    if (found && found->size() != wanted)
      return refuse(ErrorCode::E0605, "{} has {} numbers, subgraphs[{}] has {} inputs", key,
                    found->size(), which, wanted);
    return found;
  }
  bool hasGraphs(size_t wanted) const {
    if (graphs().size() != wanted)
      refuse(ErrorCode::E0605, "found {} subgraphs, want {}", graphs().size(), wanted);
    return graphs().size() == wanted;
  }
  bool hasHeads(size_t which, size_t wanted) const {
    const size_t heads = file.heads(graphs()[which]).size();
    if (heads != wanted)
      refuse(ErrorCode::E0605, "subgraphs[{}] has {} heads, want {}", which, heads, wanted);
    return heads == wanted;
  }
  Origin placeAt(int64_t step) const {
    Origin at = place;
    at.loops.emplace_back(file.name(number), step);
    return at;
  }
};

std::optional<Symbols> ControlFlow::make(uint32_t number, const Symbols &inputs,
                                         const Origin &origin) {
  const Node node{file_, host_, number, inputs, origin};
  const bool before = graph_.repeatCalls(true);
  std::optional<Symbols> made = file_.op(number) == kForeach     ? forEach(node)
                                : file_.op(number) == kWhileLoop ? whileLoop(node)
                                                                 : choose(node);
  graph_.repeatCalls(before);
  return made;
}

bool ControlFlow::mayStep(const Node &node) {
  if (stepsLeft_ == 0)
    node.refuse(ErrorCode::E0311, "its loops have more steps than a graph may have nodes");
  return stepsLeft_ > 0 && stepsLeft_--;
}

//===---- _foreach ----------------------------------------------------------------------------===//

std::optional<Symbols> ControlFlow::forEach(const Node &node) {
  if (!node.hasGraphs(1))
    return std::nullopt;
  const size_t inputs = host_.inputsOf(node.graphs()[0]);
  const auto data = node.places("in_data_locs", inputs),
             kept = node.places("in_state_locs", inputs), free = node.places("remain_locs", inputs);
  const auto outputs = node.count("num_out_data");
  if (!data || !kept || !free || !outputs || !node.hasHeads(0, *outputs + kept->size()))
    return std::nullopt;
  std::vector<size_t> positions;
  for (const auto *part : {&*data, &*kept, &*free})
    positions.insert(positions.end(), part->begin(), part->end());
  std::vector<size_t> sorted = positions;
  std::ranges::sort(sorted);
  if (positions.size() != inputs || node.inputs.size() != inputs ||
      std::ranges::adjacent_find(sorted) != sorted.end())
    return node.refuse(ErrorCode::E0605,
                       "in_data_locs, in_state_locs and remain_locs are {} numbers for {} inputs "
                       "and {} of its body",
                       positions.size(), node.inputs.size(), inputs);
  const std::optional<int64_t> steps = stepsOf(node, data->size());
  if (!steps)
    return std::nullopt;
  Symbols states(node.inputs.begin() + ptrdiff_t(data->size()),
                 node.inputs.begin() + ptrdiff_t(data->size() + kept->size()));
  std::vector<Symbols> rows(*outputs);
  for (int64_t step = 0; step < *steps; ++step) {
    if (!mayStep(node))
      return std::nullopt;
    std::optional<Symbols> given = slices(node, data->size(), step);
    if (!given)
      return std::nullopt;
    given->insert(given->end(), states.begin(), states.end());
    given->insert(given->end(), node.inputs.begin() + ptrdiff_t(given->size()), node.inputs.end());
    Symbols ofBody(inputs);
    for (size_t i = 0; i < inputs; ++i)
      ofBody[positions[i]] = (*given)[i];
    const auto made = host_.makeGraph(node.graphs()[0], ofBody, node.placeAt(step));
    if (!made)
      return std::nullopt;
    for (size_t i = 0; i < *outputs; ++i)
      rows[i].push_back((*made)[i]);
    const Symbols next(made->begin() + ptrdiff_t(*outputs), made->end());
    if (!keepTypes(node, states, next))
      return std::nullopt;
    states = next;
  }
  std::optional<Symbols> results = stacked(node, rows, *steps);
  if (results)
    results->insert(results->end(), states.begin(), states.end());
  return results;
}

std::optional<int64_t> ControlFlow::stepsOf(const Node &node, size_t data) {
  if (data == 0)
    return node.refuse(ErrorCode::E0605, "in_data_locs: found none, want at least one");
  std::optional<int64_t> steps;
  for (const Symbol &each : std::span(node.inputs).first(data)) {
    const symbol::Shape shape = each.shape();
    if (!shape.ranked || shape.dims.empty() || shape.dims[0].extent == symbol::kUnknown)
      return node.refuse(ErrorCode::E0211, "its steps are axis 0 of {}, whose shape is not known",
                         inQuotes(each.name()));
    if (steps && *steps != shape.dims[0].extent)
      return node.refuse(ErrorCode::E0309, "data have {} and {} steps on axis 0", *steps,
                         shape.dims[0].extent);
    steps = shape.dims[0].extent;
  }
  return steps;
}

std::optional<Symbols> ControlFlow::slices(const Node &node, size_t data, int64_t step) {
  Symbols found;
  for (const Symbol &each : std::span(node.inputs).first(data)) {
    symbol::Call cut;
    cut.op = "slice_axis";
    cut.positional = {each};
    cut.attributes = {{"axis", int64_t(0)}, {"begin", step}, {"end", step + 1}};
    cut.origin = node.placeAt(step);
    std::optional<Symbol> window = host_.apply(cut);
    if (!window)
      return std::nullopt;
    symbol::Call view;
    view.op = "squeeze";
    view.positional = {*window};
    view.attributes = {{"axis", symbol::Tuple{0}}};
    view.origin = cut.origin;
    std::optional<Symbol> slice = host_.apply(view);
    if (!slice)
      return std::nullopt;
    found.push_back(*slice);
  }
  return found;
}

std::optional<Symbols> ControlFlow::stacked(const Node &node, const std::vector<Symbols> &outputs,
                                            int64_t rows) {
  Symbols results;
  for (const Symbols &each : outputs) {
    symbol::Call stack;
    stack.op = "stack";
    stack.positional = each;
    stack.attributes = {{"axis", int64_t(0)}};
    stack.origin = node.place;
    std::optional<Symbol> result = host_.apply(stack);
    if (result && int64_t(each.size()) < rows) {
      std::optional<Symbol> rest = zeroRows(node, each.front(), rows - int64_t(each.size()));
      symbol::Call join;
      join.op = "Concat";
      join.attributes = {{"dim", int64_t(0)}};
      join.origin = node.place;
      if (rest)
        join.positional = {*result, *rest};
      result = rest ? host_.apply(join) : std::nullopt;
    }
    if (!result)
      return std::nullopt;
    results.push_back(*result);
  }
  return results;
}

bool ControlFlow::keepTypes(const Node &node, const Symbols &before, const Symbols &after) {
  for (size_t i = 0; i < before.size(); ++i)
    if (!symbol::mayBeOfOneType(before[i], after[i])) {
      node.refuse(ErrorCode::E0309, "state {} has another type after a step than before it", i);
      return false;
    }
  return true;
}

//===---- _while_loop and _cond ---------------------------------------------------------------===//

std::optional<Symbols> ControlFlow::whileLoop(const Node &node) {
  if (!node.hasGraphs(2) || !node.hasHeads(0, 1))
    return std::nullopt;
  const auto ofCondition = node.inputsOf(0, "cond_input_locs");
  const auto ofBody = node.inputsOf(1, "func_input_locs");
  const auto outputs = node.count("num_out_data"), most = node.count("max_iterations");
  const auto kept = ofBody ? node.places("func_var_locs", ofBody->size()) : std::nullopt;
  if (!ofCondition || !ofBody || !outputs || !most || !kept ||
      !node.hasHeads(1, *outputs + kept->size()))
    return std::nullopt;
  Symbols values = node.inputs; // those of states change
  auto pick = [&](const std::vector<size_t> &which) {
    Symbols picked;
    for (size_t i : which)
      picked.push_back(values[i]);
    return picked;
  };
  std::vector<Symbols> rows(*outputs);
  for (int64_t step = 0; uint64_t(step) < *most; ++step) {
    if (!mayStep(node))
      return std::nullopt;
    const std::optional<bool> goesOn = holds(node, pick(*ofCondition), node.placeAt(step));
    if (!goesOn)
      return std::nullopt;
    if (!*goesOn && step == 0 && *outputs > 0)
      return node.refuse(ErrorCode::E0215, "it has no step, so that nothing says its outputs");
    if (!*goesOn)
      break;
    const auto made = host_.makeGraph(node.graphs()[1], pick(*ofBody), node.placeAt(step));
    if (!made)
      return std::nullopt;
    for (size_t i = 0; i < *outputs; ++i)
      rows[i].push_back((*made)[i]);
    std::optional<Symbols> next =
        withKnownCounters(node, Symbols(made->begin() + ptrdiff_t(*outputs), made->end()));
    if (!next)
      return std::nullopt;
    for (size_t i = 0; i < kept->size(); ++i) {
      Symbol &state = values[(*ofBody)[(*kept)[i]]];
      if (!keepTypes(node, {state}, {(*next)[i]}))
        return std::nullopt;
      state = (*next)[i];
    }
  }
  std::optional<Symbols> results = stacked(node, rows, int64_t(*most));
  for (size_t i = 0; results && i < kept->size(); ++i)
    results->push_back(values[(*ofBody)[(*kept)[i]]]);
  return results;
}

std::optional<Symbols> ControlFlow::choose(const Node &node) {
  if (!node.hasGraphs(3) || !node.hasHeads(0, 1))
    return std::nullopt;
  const auto ofCondition = node.inputsOf(0, "cond_input_locs");
  const auto ofThen = node.inputsOf(1, "then_input_locs");
  const auto ofElse = node.inputsOf(2, "else_input_locs");
  const auto outputs = node.count("num_outputs");
  if (!ofCondition || !ofThen || !ofElse || !outputs || !node.hasHeads(1, *outputs) ||
      !node.hasHeads(2, *outputs))
    return std::nullopt;
  auto pick = [&](const std::vector<size_t> &which) {
    Symbols picked;
    for (size_t i : which)
      picked.push_back(node.inputs[i]);
    return picked;
  };
  const std::optional<bool> holdsThen = holds(node, pick(*ofCondition), node.place);
  if (!holdsThen)
    return std::nullopt;
  return *holdsThen ? host_.makeGraph(node.graphs()[1], pick(*ofThen), node.place)
                    : host_.makeGraph(node.graphs()[2], pick(*ofElse), node.place);
}

std::optional<bool> ControlFlow::holds(const Node &node, const Symbols &inputs,
                                       const Origin &place) {
  const auto condition = host_.makeGraph(node.graphs()[0], inputs, place);
  if (!condition)
    return std::nullopt;
  const std::optional<double> known = symbol::constantOf(condition->front());
  if (known)
    return *known != 0;
  return node.refuse(ErrorCode::E0215,
                     "its condition is not known before the run; loops and choices that depend on "
                     "values are not built yet");
}

std::optional<Symbols> ControlFlow::withKnownCounters(const Node &node, Symbols states) {
  constexpr double kExact = 1 << 24; // whole numbers that every type of 32 bits has
  for (Symbol &state : states) {
    const std::optional<double> known = symbol::constantOf(state);
    const symbol::Shape shape = state.shape();
    if (!known || !state.dtype() || !shape.known() || std::trunc(*known) != *known ||
        std::abs(*known) > kExact)
      continue;
    symbol::Call full;
    full.op = "_full";
    symbol::Tuple extents;
    for (const symbol::Dim &dim : shape.dims) {
      extents.push_back(dim.extent);
      full.dims.push_back(dim.name);
    }
    full.attributes = {
        {"shape", extents}, {"value", *known}, {"dtype", std::string(dtypeName(*state.dtype()))}};
    full.origin = node.place;
    const std::optional<Symbol> made = host_.apply(full);
    if (!made)
      return std::nullopt;
    state = *made;
  }
  return states;
}

std::optional<Symbol> ControlFlow::zeroRows(const Node &node, const Symbol &like, int64_t rows) {
  const symbol::Shape shape = like.shape();
  if (!shape.known() || !like.dtype())
    return node.refuse(ErrorCode::E0211, "the shape of its output {} is not known",
                       inQuotes(like.name()));
  symbol::Call zeros;
  zeros.op = "_zeros";
  symbol::Tuple extents = {rows};
  zeros.dims = {""};
  for (const symbol::Dim &dim : shape.dims) {
    extents.push_back(dim.extent);
    zeros.dims.push_back(dim.name);
  }
  zeros.attributes = {{"shape", extents}, {"dtype", std::string(dtypeName(*like.dtype()))}};
  zeros.origin = node.place;
  return host_.apply(zeros);
}

} // namespace lstmc::importers::mxnet
