#include <algorithm>
#include <cmath>

#include "frontend/lnet/evaluation/Collections.h"
#include "frontend/lnet/evaluation/Numbers.h"
#include "frontend/lnet/evaluation/Operators.h"

namespace lstmc::lnet {

std::optional<bool> truth(Run &run, const Value &value, Span span) {
  switch (value.kind()) {
  case ValueKind::Unset:
  case ValueKind::Unknown:
    return std::nullopt;
  case ValueKind::None:
    return false;
  case ValueKind::Bool:
    return value.boolean();
  case ValueKind::Integer:
    return value.integer() != 0;
  case ValueKind::Float:
    return value.number() != 0;
  case ValueKind::String:
    return !value.string().empty();
  case ValueKind::Tuple:
  case ValueKind::List:
    return !value.items().empty();
  case ValueKind::Dict:
    return !value.as<DictObject>().entries.empty();
  case ValueKind::Range:
    return value.as<RangeObject>().size() > 0;
  case ValueKind::Tensor:
    run.report(
        run.makeError(ErrorCode::E0301, span, "a tensor has no value at build time",
                      "where(condition, a, b) chooses element by element; both and either of "
                      "two conditions are a * b and maximum(a, b), and not is 1 - a"));
    return std::nullopt;
  default:
    return true;
  }
}

namespace {

/// Both are numbers.
int numberOrder(const Value &a, const Value &b) {
  if (a.is(ValueKind::Integer) && b.is(ValueKind::Integer))
    return a.integer() < b.integer() ? -1 : a.integer() > b.integer();
  if (a.is(ValueKind::Float) && b.is(ValueKind::Float))
    return a.number() < b.number() ? -1 : a.number() > b.number();
  return a.is(ValueKind::Integer) ? compareExactly(a.integer(), b.number())
                                  : -compareExactly(b.integer(), a.number());
}

/// Two lists or two tuples, which are not the same object: the first elements that differ decide.
std::optional<int> sequenceOrder(Run &run, const Value &a, const Value &b, std::string_view op,
                                 Span span) {
  size_t common = std::min(a.items().size(), b.items().size());
  if (!run.stepMany(common, span))
    return std::nullopt;
  for (size_t i = 0; i < common; ++i) {
    std::optional<bool> same = equal(a.items()[i], b.items()[i]);
    if (!run.stepMany(takeWork(), span))
      return std::nullopt;
    if (same && *same)
      continue;
    bool nested = a.items()[i].isSequence();
    if (nested && ++run.at.callDepth > run.limits().depth) {
      --run.at.callDepth;
      run.limitError(ErrorCode::E0313, span, "values nested too deep to compare", "depth");
      return std::nullopt;
    }
    std::optional<int> result = order(run, a.items()[i], b.items()[i], op, span);
    run.at.callDepth -= nested;
    return result;
  }
  return a.items().size() < b.items().size() ? -1 : a.items().size() > b.items().size();
}

} // namespace

std::optional<int> order(Run &run, const Value &a, const Value &b, std::string_view op, Span span) {
  if (a.isNumber() && b.isNumber())
    return numberOrder(a, b);
  if (a.is(ValueKind::String) && b.is(ValueKind::String)) {
    int result = a.string().compare(b.string());
    return result < 0 ? -1 : result > 0;
  }
  if (a.isSequence() && a.sameObject(b))
    return 0;
  if (a.isSequence() && a.kind() == b.kind())
    return sequenceOrder(run, a, b, op, span);
  if (!a.isUnknown() && !b.isUnknown())
    run.error(ErrorCode::E0317, span, "\"{}\" has no meaning for {} and {}", op, kindName(a.kind()),
              kindName(b.kind()));
  return std::nullopt;
}

namespace {

std::optional<bool> sequenceContains(Run &run, const Value &sequence, const Value &item,
                                     Span span) {
  for (const Value &each : sequence.items()) {
    if (!run.step(span))
      return std::nullopt;
    std::optional<bool> same = equal(each, item);
    if (!run.stepMany(takeWork(), span))
      return std::nullopt;
    if (!same) {
      run.error(ErrorCode::E0301, span, "a tensor has no value at build time");
      return std::nullopt;
    }
    if (*same)
      return true;
  }
  return false;
}

bool rangeContains(const RangeObject &range, const Value &item) {
  if (!item.isNumber())
    return false;
  if (item.is(ValueKind::Float) &&
      (std::floor(item.number()) != item.number() || std::fabs(item.number()) >= 0x1p63))
    return false;
  int64_t value = item.is(ValueKind::Integer) ? item.integer() : int64_t(item.number());
  if (range.step > 0 ? value < range.start || value >= range.stop
                     : value > range.start || value <= range.stop)
    return false;
  uint64_t distance = range.step > 0 ? uint64_t(value) - uint64_t(range.start)
                                     : uint64_t(range.start) - uint64_t(value);
  uint64_t stride = range.step > 0 ? uint64_t(range.step) : 0 - uint64_t(range.step);
  return distance % stride == 0;
}

} // namespace

std::optional<bool> contains(Run &run, const Value &container, const Value &item, Span span) {
  switch (container.kind()) {
  case ValueKind::Tuple:
  case ValueKind::List:
    return sequenceContains(run, container, item, span);
  case ValueKind::Dict:
    if (std::optional<size_t> hash = hashOf(item))
      return findEntry(container.as<DictObject>(), item, *hash) != nullptr;
    break;
  case ValueKind::String:
    if (!item.is(ValueKind::String))
      break;
    if (!run.stepMany(container.string().size() / 4, span))
      return std::nullopt;
    return container.string().find(item.string()) != std::string::npos;
  case ValueKind::Range:
    return rangeContains(container.as<RangeObject>(), item);
  default:
    break;
  }
  run.error(ErrorCode::E0317, span, "\"in\" has no meaning for {} and {}", kindName(item.kind()),
            kindName(container.kind()));
  return std::nullopt;
}

Value comparison(Run &run, CompareOp op, const Value &left, const Value &right, Span opSpan) {
  if (op == CompareOp::In || op == CompareOp::NotIn) {
    std::optional<bool> result = contains(run, right, left, opSpan);
    return result ? Value::boolean(*result == (op == CompareOp::In)) : Value::unknown();
  }
  if (op == CompareOp::Equal || op == CompareOp::NotEqual) {
    std::optional<bool> same = equal(left, right);
    if (!run.stepMany(takeWork(), opSpan))
      return Value::unknown();
    if (!same)
      return run.error(ErrorCode::E0301, opSpan, "a tensor has no value at build time");
    return Value::boolean(*same == (op == CompareOp::Equal));
  }
  std::optional<int> result = order(run, left, right, run.at.module->file->text(opSpan), opSpan);
  if (!result)
    return Value::unknown();
  switch (op) {
  case CompareOp::Less:
    return Value::boolean(*result < 0);
  case CompareOp::LessEqual:
    return Value::boolean(*result <= 0);
  case CompareOp::Greater:
    return Value::boolean(*result > 0);
  default:
    return Value::boolean(*result >= 0);
  }
}

} // namespace lstmc::lnet
