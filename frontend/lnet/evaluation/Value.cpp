#include "frontend/lnet/evaluation/Value.h"

#include <cmath>

#include <fmt/format.h>

#include "frontend/symbol/ValueText.h"

namespace lstmc::lnet {

std::string_view kindName(ValueKind kind) {
  switch (kind) {
  case ValueKind::Unset:
  case ValueKind::Unknown:
    return "an unknown value";
  case ValueKind::None:
    return "None";
  case ValueKind::Infer:
    return "_";
  case ValueKind::Bool:
    return "a bool";
  case ValueKind::Integer:
    return "an integer";
  case ValueKind::Float:
    return "a float";
  case ValueKind::Builtin:
    return "a built-in function";
  case ValueKind::Op:
    return "an op";
  case ValueKind::String:
    return "a string";
  case ValueKind::Tuple:
    return "a tuple";
  case ValueKind::List:
    return "a list";
  case ValueKind::Dict:
    return "a dict";
  case ValueKind::Range:
    return "a range";
  case ValueKind::Function:
    return "a function";
  case ValueKind::Frame:
    return "a frame";
  case ValueKind::Tensor:
    return "a tensor";
  case ValueKind::Initialiser:
    return "an initialiser";
  case ValueKind::Scheduler:
    return "a schedule";
  }
  return "";
}

/// Frees nested values in a loop instead of recursively, so that deeply nested lists cannot
/// overflow the stack.
void Value::release(Object *object) {
  if (--object->references != 0)
    return;
  static thread_local std::vector<Object *> waiting;
  static thread_local bool draining = false;
  waiting.push_back(object);
  if (draining)
    return;
  draining = true;
  while (!waiting.empty()) {
    Object *next = waiting.back();
    waiting.pop_back();
    next->before->after = next->after;
    next->after->before = next->before;
    delete next;
  }
  draining = false;
}

Heap::Heap() : ends_(ValueKind::None) { ends_.before = ends_.after = &ends_; }

void Heap::link(Object *object) {
  object->before = ends_.before;
  object->after = &ends_;
  ends_.before->after = object;
  ends_.before = object;
}

Heap::~Heap() {
  // Only cycles of closures remain. Each object is kept alive until all have dropped their values.
  for (Object *object = ends_.after; object != &ends_; object = object->after)
    ++object->references;
  for (Object *object = ends_.after; object != &ends_; object = object->after)
    object->clear();
  for (Object *object = ends_.after; object != &ends_;) {
    Object *next = object->after;
    delete object;
    object = next;
  }
}

uint64_t RangeObject::size() const {
  if (step > 0 ? start >= stop : start <= stop)
    return 0;
  uint64_t distance =
      step > 0 ? uint64_t(stop) - uint64_t(start) : uint64_t(start) - uint64_t(stop);
  uint64_t stride = step > 0 ? uint64_t(step) : 0 - uint64_t(step);
  return (distance - 1) / stride + 1;
}

namespace {

/// Values nested deeper than this compare as different and are not shown.
constexpr int kDeepestValue = 200;

thread_local uint64_t work = 0;

size_t mix(size_t seed, size_t value) {
  return (seed ^ value) * 0x9E3779B97F4A7C15u + (seed >> 17);
}

std::optional<size_t> hashAt(const Value &value, int depth) {
  switch (value.kind()) {
  case ValueKind::None:
    return 11;
  case ValueKind::Bool:
    return value.boolean() ? 13 : 17;
  case ValueKind::Integer:
    return mix(19, size_t(value.integer()));
  case ValueKind::Float: {
    double number = value.number();
    if (std::isnan(number))
      return std::nullopt;
    // A float that equals an integer is the same key.
    if (std::floor(number) == number && std::fabs(number) < 0x1p63)
      return mix(19, size_t(int64_t(number)));
    return mix(23, std::hash<double>()(number));
  }
  case ValueKind::String:
    return mix(29, std::hash<std::string>()(value.string()));
  case ValueKind::Tuple: {
    if (depth > kDeepestValue)
      return std::nullopt;
    size_t seed = 31;
    for (const Value &item : value.items()) {
      if (++work > kMostWork)
        return std::nullopt;
      std::optional<size_t> hash = hashAt(item, depth + 1);
      if (!hash)
        return std::nullopt;
      seed = mix(seed, *hash);
    }
    return seed;
  }
  default:
    return std::nullopt;
  }
}

bool equalNumbers(const Value &a, const Value &b) {
  if (a.kind() == b.kind())
    return a.is(ValueKind::Integer) ? a.integer() == b.integer() : a.number() == b.number();
  const Value &i = a.is(ValueKind::Integer) ? a : b;
  double f = (a.is(ValueKind::Integer) ? b : a).number();
  return std::floor(f) == f && f >= -0x1p63 && f < 0x1p63 && int64_t(f) == i.integer();
}

std::optional<bool> equalAt(const Value &a, const Value &b, int depth) {
  if (a.isNumber() && b.isNumber())
    return equalNumbers(a, b);
  if (a.is(ValueKind::Tensor) && b.is(ValueKind::Tensor)) {
    if (a.as<TensorObject>().symbol == b.as<TensorObject>().symbol)
      return true;
    return std::nullopt;
  }
  if (a.kind() != b.kind())
    return false;
  switch (a.kind()) {
  case ValueKind::None:
  case ValueKind::Infer:
    return true;
  case ValueKind::Bool:
    return a.boolean() == b.boolean();
  case ValueKind::String:
    return a.string() == b.string();
  case ValueKind::Tuple:
  case ValueKind::List: {
    if (a.sameObject(b))
      return true;
    if (a.items().size() != b.items().size() || depth > kDeepestValue)
      return false;
    for (size_t i = 0; i < a.items().size(); ++i) {
      if (++work > kMostWork)
        return false;
      std::optional<bool> same = equalAt(a.items()[i], b.items()[i], depth + 1);
      if (!same || !*same)
        return same;
    }
    return true;
  }
  case ValueKind::Dict: {
    auto &left = a.as<DictObject>(), &right = b.as<DictObject>();
    if (left.entries.size() != right.entries.size() || depth > kDeepestValue)
      return false;
    for (auto &[key, value] : left.entries) {
      if (++work > kMostWork)
        return false;
      const Value *other = nullptr;
      auto [from, to] = right.index.equal_range(*hashOf(key));
      for (auto at = from; at != to; ++at)
        if (equalAt(key, right.entries[at->second].first, depth + 1).value_or(false))
          other = &right.entries[at->second].second;
      if (!other)
        return false;
      std::optional<bool> same = equalAt(value, *other, depth + 1);
      if (!same || !*same)
        return same;
    }
    return true;
  }
  case ValueKind::Range: {
    auto &left = a.as<RangeObject>(), &right = b.as<RangeObject>();
    return left.size() == right.size() && (left.size() == 0 || left.start == right.start) &&
           (left.size() <= 1 || left.step == right.step);
  }
  default:
    return a.sameObject(b);
  }
}

void appendRepr(std::string &text, const Value &value, size_t limit, int depth, bool quote);

void appendItems(std::string &text, const std::vector<Value> &items, size_t limit, int depth) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (text.size() > limit || depth > kDeepestValue) {
      text += i ? ", …" : "…";
      return;
    }
    if (i)
      text += ", ";
    appendRepr(text, items[i], limit, depth + 1, true);
  }
}

void appendRepr(std::string &text, const Value &value, size_t limit, int depth, bool quote) {
  switch (value.kind()) {
  case ValueKind::Bool:
    text += value.boolean() ? "True" : "False";
    break;
  case ValueKind::Integer:
    text += std::to_string(value.integer());
    break;
  case ValueKind::Float:
    text += symbol::floatText(value.number());
    break;
  case ValueKind::String: {
    if (!quote) {
      text += value.string();
      break;
    }
    text += '"';
    for (char c : value.string()) {
      if (text.size() > limit && (c & 0xC0) != 0x80) {
        text += "…";
        break;
      }
      symbol::appendEscaped(text, c);
    }
    text += '"';
    break;
  }
  case ValueKind::Tuple:
    text += '(';
    appendItems(text, value.items(), limit, depth);
    text += value.items().size() == 1 ? ",)" : ")";
    break;
  case ValueKind::List:
    text += '[';
    appendItems(text, value.items(), limit, depth);
    text += ']';
    break;
  case ValueKind::Dict: {
    text += '{';
    bool first = true;
    for (auto &[key, item] : value.as<DictObject>().entries) {
      if (text.size() > limit || depth > kDeepestValue) {
        text += first ? "…" : ", …";
        break;
      }
      text += first ? "" : ", ";
      first = false;
      appendRepr(text, key, limit, depth + 1, true);
      text += ": ";
      appendRepr(text, item, limit, depth + 1, true);
    }
    text += '}';
    break;
  }
  case ValueKind::Range: {
    auto &range = value.as<RangeObject>();
    text += range.step == 1 ? fmt::format("range({}, {})", range.start, range.stop)
                            : fmt::format("range({}, {}, {})", range.start, range.stop, range.step);
    break;
  }
  case ValueKind::Function:
    text += fmt::format("function {}", value.as<FunctionObject>().name());
    break;
  case ValueKind::Op:
    text += "op " + value.op().name;
    break;
  default:
    text += kindName(value.kind());
  }
}

} // namespace

uint64_t takeWork() { return std::exchange(work, 0); }

std::optional<size_t> hashOf(const Value &value) { return hashAt(value, 0); }
std::optional<bool> equal(const Value &a, const Value &b) { return equalAt(a, b, 0); }

std::string textOf(const Value &value, size_t limit) {
  std::string text;
  appendRepr(text, value, limit, 0, false);
  return text;
}

std::string reprOf(const Value &value, size_t limit) {
  std::string text;
  appendRepr(text, value, limit, 0, true);
  return text;
}

} // namespace lstmc::lnet
