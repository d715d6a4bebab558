#include "frontend/lnet/evaluation/PythonFunctions.h"

#include <algorithm>

#include "frontend/lnet/evaluation/Collections.h"
#include "frontend/lnet/evaluation/Interpreter.h"
#include "frontend/lnet/evaluation/Operators.h"

namespace lstmc::lnet {

IterationFunctions::IterationFunctions(Interpreter &interpreter)
    : interpreter_(interpreter), run_(interpreter.run) {}

std::span<const BuiltinRow<IterationFunctions>> IterationFunctions::functions() {
  static constexpr BuiltinRow<IterationFunctions> kTable[] = {
      {"range", &IterationFunctions::range},
      {"len", &IterationFunctions::len},
      {"enumerate", &IterationFunctions::enumerate},
      {"zip", &IterationFunctions::zip},
      {"reversed", &IterationFunctions::reversed},
      {"sorted", &IterationFunctions::sorted},
      {"min", &IterationFunctions::min},
      {"max", &IterationFunctions::max},
      {"sum", &IterationFunctions::sum},
      {"any", &IterationFunctions::any},
      {"all", &IterationFunctions::all},
  };
  return kTable;
}

Value IterationFunctions::range(Arguments &arguments) {
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (!bindBuiltin(run_, "range", arguments, {{"start", true}, {"stop"}, {"step"}}, values,
                   &places))
    return Value::unknown();
  int64_t numbers[3] = {0, 0, 1};
  for (size_t i = 0; i < 3; ++i) {
    if (values[i].is(ValueKind::Unset))
      continue;
    if (values[i].isUnknown())
      return values[i];
    if (!values[i].is(ValueKind::Integer))
      return run_.error(ErrorCode::E0204, places[i]->span, "range takes integers, got {}",
                        reprOf(values[i]));
    numbers[i] = values[i].integer();
  }
  if (values[1].is(ValueKind::Unset))
    std::swap(numbers[0], numbers[1]);
  if (numbers[2] == 0)
    return run_.error(ErrorCode::E0204, places[2]->span, "step of range is other than 0, got 0");
  return run_.heap.make<RangeObject>(numbers[0], numbers[1], numbers[2]);
}

Value IterationFunctions::len(Arguments &arguments) {
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (!bindBuiltin(run_, "len", arguments, {{"of", true}}, values, &places))
    return Value::unknown();
  const Value &value = values[0];
  switch (value.kind()) {
  case ValueKind::Unknown:
    return value;
  case ValueKind::Tuple:
  case ValueKind::List:
    return Value::integer(int64_t(value.items().size()));
  case ValueKind::Dict:
    return Value::integer(int64_t(value.as<DictObject>().entries.size()));
  case ValueKind::Range: {
    uint64_t size = value.as<RangeObject>().size();
    if (size > uint64_t(INT64_MAX))
      return run_.error(ErrorCode::E0304, places[0]->span, "the length of {} overflows",
                        reprOf(value));
    return Value::integer(int64_t(size));
  }
  case ValueKind::String: {
    const std::string &text = value.string();
    if (!run_.stepMany(text.size() / 16, places[0]->span))
      return Value::unknown();
    return Value::integer(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
  }
  case ValueKind::Tensor:
    return interpreter_.tensors.length(value, places[0]);
  default:
    return run_.error(ErrorCode::E0317, places[0]->span, "{} has no length",
                      kindName(value.kind()));
  }
}

Value IterationFunctions::enumerate(Arguments &arguments) {
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (!bindBuiltin(run_, "enumerate", arguments, {{"items", true}, {"start"}}, values, &places))
    return Value::unknown();
  auto items = elements(run_, values[0], places[0]);
  if (!items || values[1].isUnknown())
    return Value::unknown();
  int64_t start = values[1].is(ValueKind::Integer) ? values[1].integer() : 0;
  if (start > INT64_MAX - int64_t(items->size()))
    return run_.error(ErrorCode::E0304, places[1]->span, "{} + {} overflows", start, items->size());
  for (size_t i = 0; i < items->size(); ++i)
    (*items)[i] = makeSequence(run_, ValueKind::Tuple,
                               {Value::integer(start + int64_t(i)), (*items)[i]}, places[0]->span);
  return makeSequence(run_, ValueKind::List, std::move(*items), places[0]->span);
}

Value IterationFunctions::zip(Arguments &arguments) {
  if (!arguments.named.empty())
    return run_.error(ErrorCode::E0202, arguments.named[0].argument->nameSpan,
                      "zip has no attribute \"{}\"", arguments.named[0].argument->name);
  std::vector<std::vector<Value>> columns;
  size_t rows = SIZE_MAX;
  for (size_t i = 0; i < arguments.positional.size(); ++i) {
    auto items = elements(run_, arguments.positional[i], arguments.places[i]);
    if (!items)
      return Value::unknown();
    rows = std::min(rows, items->size());
    columns.push_back(std::move(*items));
  }
  if (arguments.unknown)
    return Value::unknown();
  std::vector<Value> result;
  for (size_t row = 0; !columns.empty() && row < rows; ++row) {
    std::vector<Value> tuple;
    for (auto &column : columns)
      tuple.push_back(std::move(column[row]));
    result.push_back(makeSequence(run_, ValueKind::Tuple, std::move(tuple), arguments.call->span));
  }
  return makeSequence(run_, ValueKind::List, std::move(result), arguments.call->span);
}

Value IterationFunctions::reversed(Arguments &arguments) {
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (!bindBuiltin(run_, "reversed", arguments, {{"items", true}}, values, &places))
    return Value::unknown();
  auto items = elements(run_, values[0], places[0]);
  if (!items)
    return Value::unknown();
  std::reverse(items->begin(), items->end());
  return makeSequence(run_, ValueKind::List, std::move(*items), arguments.call->span);
}

/// A stable merge sort by `keys`; false after an error. Not std::sort, since a comparison may fail.
bool IterationFunctions::sort(std::vector<Value> &items, std::vector<Value> &keys, bool reverse,
                              Span span) {
  std::vector<size_t> sequence(items.size()), merged(items.size());
  for (size_t i = 0; i < sequence.size(); ++i)
    sequence[i] = i;
  for (size_t width = 1; width < sequence.size(); width *= 2) {
    for (size_t low = 0; low < sequence.size(); low += 2 * width) {
      size_t middle = std::min(low + width, sequence.size()),
             high = std::min(low + 2 * width, sequence.size());
      size_t left = low, right = middle;
      for (size_t out = low; out < high; ++out) {
        bool takeRight = left >= middle;
        if (left < middle && right < high) {
          if (!run_.step(span))
            return false;
          std::optional<int> compared =
              order(run_, keys[sequence[right]], keys[sequence[left]], "<", span);
          if (!compared)
            return false;
          takeRight = reverse ? *compared > 0 : *compared < 0;
        }
        merged[out] = takeRight ? sequence[right++] : sequence[left++];
      }
    }
    sequence.swap(merged);
  }
  std::vector<Value> sorted;
  for (size_t i : sequence)
    sorted.push_back(std::move(items[i]));
  items = std::move(sorted);
  return true;
}

Value IterationFunctions::sorted(Arguments &arguments) {
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (!bindBuiltin(run_, "sorted", arguments, {{"items", true}, {"key"}, {"reverse"}}, values,
                   &places))
    return Value::unknown();
  auto items = elements(run_, values[0], places[0]);
  if (!items || values[1].isUnknown() || values[2].isUnknown())
    return Value::unknown();
  std::vector<Value> keys = *items;
  if (values[1].is(ValueKind::Function))
    for (Value &key : keys) {
      Arguments one;
      one.call = arguments.call;
      one.positional.push_back(std::move(key));
      one.places.push_back(places[0]);
      key = interpreter_.calls.callFunction(values[1], one);
      if (key.isUnknown())
        return key;
    }
  else if (!values[1].is(ValueKind::Unset) && !values[1].is(ValueKind::None))
    return run_.error(ErrorCode::E0204, places[1]->span, "key is a function, got {}",
                      reprOf(values[1]));
  bool reverse = values[2].is(ValueKind::Bool) && values[2].boolean();
  if (!sort(*items, keys, reverse, arguments.call->span))
    return Value::unknown();
  return makeSequence(run_, ValueKind::List, std::move(*items), arguments.call->span);
}

const symbol::OpSignature *opOnTensor(const Arguments &arguments, std::string_view name) {
  bool tensor = !arguments.positional.empty() && arguments.positional[0].is(ValueKind::Tensor);
  for (const auto &named : arguments.named)
    tensor |= named.argument->name == "data" && named.value.is(ValueKind::Tensor);
  return tensor ? symbol::findOp(name) : nullptr;
}

/// Whether the callee depends on an error that was reported already.
static bool dependsOnError(const Arguments &arguments) {
  return arguments.unknown || std::ranges::any_of(arguments.positional, &Value::isUnknown);
}

Value IterationFunctions::extreme(Arguments &arguments, std::string_view name, bool largest) {
  if (const symbol::OpSignature *op = opOnTensor(arguments, name);
      op && arguments.positional.size() < 2)
    return interpreter_.tensors.call(*op, arguments);
  if (dependsOnError(arguments))
    return Value::unknown();
  if (!arguments.named.empty())
    return run_.error(ErrorCode::E0202, arguments.named[0].argument->nameSpan,
                      "{} has no attribute \"{}\"", name, arguments.named[0].argument->name);
  if (arguments.positional.empty())
    return run_.error(ErrorCode::E0203, calleeSpan(arguments.call), "{} needs items", name);
  std::vector<Value> items(arguments.positional.begin(), arguments.positional.end());
  if (items.size() == 1) {
    auto inner = elements(run_, items[0], arguments.places[0]);
    if (!inner)
      return Value::unknown();
    items = std::move(*inner);
  }
  if (items.empty())
    return run_.error(ErrorCode::E0305, arguments.places[0]->span, "{} of no elements", name);
  auto isTensor = [](const Value &item) { return item.is(ValueKind::Tensor); };
  if (std::ranges::any_of(items, isTensor))
    return extremeOfTensors(arguments, items, largest ? "maximum" : "minimum");
  Value best = items[0];
  for (const Value &item : items) {
    if (item.isUnknown() || !run_.step(arguments.call->span))
      return Value::unknown();
    std::optional<int> compared =
        order(run_, item, best, largest ? ">" : "<", arguments.call->span);
    if (!compared)
      return Value::unknown();
    if (largest ? *compared > 0 : *compared < 0)
      best = item;
  }
  return best;
}

/// `max(x, 0.0)` and `max([x, y])`: element by element.
Value IterationFunctions::extremeOfTensors(const Arguments &arguments,
                                           const std::vector<Value> &items, std::string_view name) {
  const symbol::OpSignature *op = symbol::findOp(name);
  Value best;
  for (const Value &item : items) {
    if (item.isUnknown() || !run_.step(arguments.call->span))
      return Value::unknown();
    Arguments two;
    two.call = arguments.call;
    two.positional = {best, item};
    two.places = {arguments.places[0], arguments.places[0]};
    best = best.is(ValueKind::Unset) ? item : interpreter_.tensors.call(*op, two);
    if (best.isUnknown())
      return best;
  }
  return best;
}

/// Whether the truth value of some element is `wanted`: true for Python's any, false for its all.
Value IterationFunctions::anyIs(Arguments &arguments, std::string_view name, bool wanted) {
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (!bindBuiltin(run_, name, arguments, {{"items", true}}, values, &places))
    return Value::unknown();
  auto items = elements(run_, values[0], places[0]);
  if (!items)
    return Value::unknown();
  for (const Value &item : *items) {
    std::optional<bool> holds = truth(run_, item, places[0]->span);
    if (!holds || !run_.step(arguments.call->span))
      return Value::unknown();
    if (*holds == wanted)
      return Value::boolean(wanted);
  }
  return Value::boolean(!wanted);
}

Value IterationFunctions::any(Arguments &arguments) { return anyIs(arguments, "any", true); }
Value IterationFunctions::all(Arguments &arguments) { return anyIs(arguments, "all", false); }

Value IterationFunctions::min(Arguments &arguments) { return extreme(arguments, "min", false); }
Value IterationFunctions::max(Arguments &arguments) { return extreme(arguments, "max", true); }

Value IterationFunctions::sum(Arguments &arguments) {
  if (const symbol::OpSignature *op = opOnTensor(arguments, "sum"))
    return interpreter_.tensors.call(*op, arguments);
  if (dependsOnError(arguments))
    return Value::unknown();
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (!bindBuiltin(run_, "sum", arguments, {{"items", true}, {"start"}}, values, &places))
    return Value::unknown();
  auto items = elements(run_, values[0], places[0]);
  if (!items || values[1].isUnknown())
    return Value::unknown();
  // A sum of tensors begins with the first of them, not with 0.
  bool tensors =
      !items->empty() && items->front().is(ValueKind::Tensor) && values[1].is(ValueKind::Unset);
  Value total = values[1].is(ValueKind::Unset) ? Value::integer(0) : values[1];
  if (total.is(ValueKind::String))
    return run_.error(ErrorCode::E0317, places[1]->span, "sum has no meaning for a string");
  for (size_t i = 0; i < items->size(); ++i) {
    if (!run_.step(arguments.call->span))
      return Value::unknown();
    total = tensors && i == 0
                ? (*items)[0]
                : interpreter_.expressions.binary(TokenKind::Plus, total, (*items)[i],
                                                  calleeSpan(arguments.call), places[0], places[0]);
    if (total.isUnknown())
      return total;
  }
  return total;
}

} // namespace lstmc::lnet
