#include "frontend/lnet/net/Foreach.h"

#include <algorithm>

#include "frontend/lnet/net/Types.h"
#include "frontend/symbol/KnownValues.h"

namespace lstmc::lnet {

std::span<const BuiltinRow<Foreach>> Foreach::functions() {
  static constexpr BuiltinRow<Foreach> kTable[] = {{"foreach", &Foreach::foreach}};
  return kTable;
}

/// The tensors in a tensor or a tuple; nullopt for any other value.
static std::optional<std::vector<Value>> tensorsOf(const Value &value) {
  if (value.is(ValueKind::Tensor))
    return std::vector{value};
  if (!value.isSequence())
    return std::nullopt;
  std::vector<Value> items(value.items().begin(), value.items().end());
  if (!std::ranges::all_of(items, [](const Value &item) { return item.is(ValueKind::Tensor); }))
    return std::nullopt;
  return items;
}

static const symbol::Symbol &symbolOf(const Value &tensor) {
  return tensor.as<TensorObject>().symbol;
}

/// Marks the calls of a loop's steps after the first.
class RepeatedCalls {
public:
  explicit RepeatedCalls(symbol::Graph &graph) : graph_(graph) {}
  ~RepeatedCalls() {
    if (before_)
      graph_.repeatCalls(*before_);
  }
  RepeatedCalls(const RepeatedCalls &) = delete;
  RepeatedCalls &operator=(const RepeatedCalls &) = delete;
  void begin() { before_ = graph_.repeatCalls(true); }

private:
  symbol::Graph &graph_;
  std::optional<bool> before_; ///< once begun
};

Value Foreach::foreach (Arguments &arguments) {
  std::vector<Value> values;
  std::vector<const Expr *> places;
  const Span span = calleeSpan(arguments.call);
  if (!bindBuiltin(run_, "foreach", arguments, {{"step", true}, {"data", true}, {"states", true}},
                   values, &places) ||
      arguments.unknown || std::ranges::any_of(values, &Value::isUnknown))
    return Value::unknown();
  if (!values[0].is(ValueKind::Function))
    return run_.report(
        run_.makeError(ErrorCode::E0204, places[0]->span,
                       fmt::format("step is a function, got {}", reprOf(values[0])),
                       "foreach(step, data, states): step(x, states) returns (y, states)"));
  for (size_t i : {size_t(1), size_t(2)})
    if (!tensorsOf(values[i]))
      return run_.error(ErrorCode::E0204, places[i]->span,
                        "{} is a tensor or a tuple of tensors, got {}", i == 1 ? "data" : "states",
                        reprOf(values[i]));
  if (!run_.mayDraw("foreach", span))
    return Value::unknown();
  const std::optional<int64_t> steps = stepsOf(values[1], places[1]->span);
  if (!steps)
    return Value::unknown();
  Value states = values[2];
  std::vector<std::vector<Value>> ys;
  bool isOne = true;
  RepeatedCalls repeated(*run_.graph);
  for (int64_t t = 0; t < *steps; ++t) {
    if (t == 1)
      repeated.begin();
    const Value x = slice(values[1], t, places[1]);
    if (x.isUnknown() || !run_.step(span))
      return Value::unknown();
    Arguments inner;
    inner.call = arguments.call;
    inner.positional = {x, states};
    inner.places = {places[1], places[2]};
    const Value result = interpreter_.calls.callFunction(values[0], inner);
    if (result.isUnknown())
      return result;
    const bool isPair = result.isSequence() && result.items().size() == 2;
    std::optional<std::vector<Value>> y = isPair ? tensorsOf(result.items()[0]) : std::nullopt;
    if (!y || !tensorsOf(result.items()[1]))
      return run_.error(ErrorCode::E0204, places[0]->span,
                        "step returns (y, states), tensors or tuples of tensors, got {}",
                        reprOf(result));
    if (!isKept(states, result.items()[1], places[0]->span))
      return Value::unknown();
    isOne = result.items()[0].is(ValueKind::Tensor);
    states = result.items()[1];
    ys.resize(y->size());
    for (size_t i = 0; i < ys.size(); ++i)
      ys[i].push_back((*y)[i]);
  }
  std::vector<Value> stacked;
  for (const std::vector<Value> &each : ys)
    stacked.push_back(stack(each, span));
  if (std::ranges::any_of(stacked, &Value::isUnknown))
    return Value::unknown();
  Value result = isOne ? stacked.front()
                       : run_.heap.make<SequenceObject>(ValueKind::Tuple, std::move(stacked));
  return run_.heap.make<SequenceObject>(ValueKind::Tuple, std::vector{result, states});
}

std::optional<int64_t> Foreach::stepsOf(const Value &data, Span span) {
  std::optional<int64_t> steps;
  const std::vector<Value> tensors = *tensorsOf(data);
  for (const Value &each : tensors) {
    const symbol::Shape shape = symbolOf(each).shape();
    if (!shape.ranked || shape.dims.empty() || shape.dims[0].extent == symbol::kUnknown) {
      run_.error(ErrorCode::E0211, span, "axis 0 of data is not known here: {}",
                 tensorText(symbolOf(each)));
      return std::nullopt;
    }
    if (steps && *steps != shape.dims[0].extent) {
      run_.error(ErrorCode::E0309, span, "data have {} and {} steps on axis 0", *steps,
                 shape.dims[0].extent);
      return std::nullopt;
    }
    steps = shape.dims[0].extent;
  }
  if (!steps)
    run_.error(ErrorCode::E0204, span, "data is a tensor or a tuple of tensors, got none");
  return steps;
}

Value Foreach::slice(const Value &data, int64_t t, const Expr *place) {
  const std::vector<Value> tensors = *tensorsOf(data);
  std::vector<Value> slices;
  for (const Value &each : tensors) {
    Value window =
        nodes_.applyOne("slice_axis", {each}, {{"axis", int64_t(0)}, {"begin", t}, {"end", t + 1}},
                        place->span, {place});
    if (window.isUnknown())
      return window;
    slices.push_back(
        nodes_.applyOne("squeeze", {window}, {{"axis", symbol::Tuple{0}}}, place->span, {place}));
  }
  if (data.is(ValueKind::Tensor))
    return slices.front();
  return run_.heap.make<SequenceObject>(ValueKind::Tuple, std::move(slices));
}

bool Foreach::isKept(const Value &before, const Value &after, Span span) {
  const std::vector<Value> old = *tensorsOf(before), next = *tensorsOf(after);
  if (old.size() != next.size() || before.isSequence() != after.isSequence()) {
    run_.error(ErrorCode::E0309, span, "states are {} before the step, {} after", reprOf(before),
               reprOf(after));
    return false;
  }
  for (size_t i = 0; i < old.size(); ++i)
    if (!symbol::mayBeOfOneType(symbolOf(old[i]), symbolOf(next[i]))) {
      run_.error(ErrorCode::E0309, span, "state {} is {} before the step, {} after", i,
                 tensorText(symbolOf(old[i])), tensorText(symbolOf(next[i])));
      return false;
    }
  return true;
}

Value Foreach::stack(const std::vector<Value> &ys, Span span) {
  return nodes_.applyOne("stack", ys, {{"axis", int64_t(0)}}, span, {});
}

} // namespace lstmc::lnet
