#include "frontend/lnet/evaluation/Subscripts.h"

#include <algorithm>

#include "frontend/lnet/evaluation/Collections.h"

namespace lstmc::lnet {

Window clip(std::optional<int64_t> begin, std::optional<int64_t> end, int64_t step,
            int64_t length) {
  int64_t low = step < 0 ? -1 : 0, high = step < 0 ? length - 1 : length;
  auto place = [&](std::optional<int64_t> at, int64_t otherwise) {
    if (!at)
      return otherwise;
    int64_t value = *at < 0 ? (*at < -length ? low : *at + length) : *at;
    return std::clamp(value, low, high);
  };
  return {place(begin, step < 0 ? high : low), place(end, step < 0 ? low : high), step};
}

namespace {

/// A string as characters, each of one to four bytes.
class Characters {
public:
  explicit Characters(const std::string &text) : text_(text) {
    if (std::none_of(text.begin(), text.end(), [](char c) { return c & 0x80; }))
      return;
    for (size_t i = 0; i < text.size(); ++i)
      if ((text[i] & 0xC0) != 0x80)
        offsets_.push_back(i);
    offsets_.push_back(text.size());
  }

  int64_t size() const { return int64_t(offsets_.empty() ? text_.size() : offsets_.size() - 1); }
  std::string at(int64_t index) const {
    return offsets_.empty() ? text_.substr(index, 1)
                            : text_.substr(offsets_[index], offsets_[index + 1] - offsets_[index]);
  }

private:
  const std::string &text_;
  /// Byte offsets of the characters, and of the end; empty for ASCII, where each character is one
  /// byte.
  std::vector<size_t> offsets_;
};

int64_t lengthOf(const RangeObject &range) {
  return int64_t(std::min<uint64_t>(range.size(), INT64_MAX));
}

Value entryAt(Run &run, DictObject &dict, const Value &key, Span span) {
  std::optional<size_t> hash = keyHash(run, key, span);
  if (!hash)
    return Value::unknown();
  if (auto *entry = findEntry(dict, key, *hash))
    return entry->second;
  return run.error(ErrorCode::E0305, span, "key {} of a dict of {}", reprOf(key),
                   dict.entries.size());
}

Value sliceOfRange(Run &run, const RangeObject &range, const SliceBounds &bounds, Span span) {
  Window window = clip(bounds.begin, bounds.end, bounds.step, lengthOf(range));
  int64_t stride = 0;
  if (__builtin_mul_overflow(range.step, bounds.step, &stride))
    stride = (range.step < 0) != (bounds.step < 0) ? -INT64_MAX : INT64_MAX;
  int64_t size = window.size();
  if (size == 0)
    return run.heap.make<RangeObject>(0, 0, 1);
  int64_t first = range.at(uint64_t(window.start)),
          last = range.at(uint64_t(window.start + (size - 1) * bounds.step));
  int64_t stop = 0;
  if (__builtin_add_overflow(last, stride > 0 ? 1 : -1, &stop))
    return run.error(ErrorCode::E0304, span, "the end of the range overflows");
  return run.heap.make<RangeObject>(first, stop, stride);
}

Value sliceOfSequence(Run &run, const Value &base, const SliceBounds &bounds, Span span) {
  Window window = clip(bounds.begin, bounds.end, bounds.step, int64_t(base.items().size()));
  int64_t size = window.size();
  if (!run.stepMany(uint64_t(size), span))
    return Value::unknown();
  std::vector<Value> items;
  for (int64_t i = 0; i < size; ++i)
    items.push_back(base.items()[window.start + i * bounds.step]);
  return makeSequence(run, base.kind(), std::move(items), span);
}

Value sliceOfString(Run &run, const std::string &text, const SliceBounds &bounds, Span span) {
  if (!run.stepMany(text.size() / 16, span))
    return Value::unknown();
  Characters characters(text);
  Window window = clip(bounds.begin, bounds.end, bounds.step, characters.size());
  int64_t size = window.size();
  std::string result;
  for (int64_t i = 0; i < size; ++i)
    result += characters.at(window.start + i * bounds.step);
  return makeString(run, std::move(result), span);
}

} // namespace

Value elementAt(Run &run, const Value &base, const Value &key, const IndexExpr *expr) {
  if (base.isUnknown() || key.isUnknown())
    return Value::unknown();
  Span span = expr->items[0]->span;
  if (base.is(ValueKind::Dict))
    return entryAt(run, base.as<DictObject>(), key, span);
  bool string = base.is(ValueKind::String), range = base.is(ValueKind::Range);
  if (!base.isSequence() && !string && !range)
    return run.error(ErrorCode::E0317, expr->span, "{} has no elements", kindName(base.kind()));
  if (!key.is(ValueKind::Integer))
    return run.report(run.makeError(
        ErrorCode::E0317, span, fmt::format("an index is an integer, got {}", reprOf(key)),
        key.is(ValueKind::Float) ? "// divides integers, and int(x) cuts off" : ""));
  if (string && !run.stepMany(base.string().size() / 16, span))
    return Value::unknown();
  std::optional<Characters> characters;
  if (string)
    characters.emplace(base.string());
  int64_t length = string  ? characters->size()
                   : range ? lengthOf(base.as<RangeObject>())
                           : int64_t(base.items().size());
  int64_t at = key.integer() < 0 ? key.integer() + length : key.integer();
  if (at < 0 || at >= length)
    return run.error(ErrorCode::E0305, span, "index {} of {} of {}", key.integer(),
                     kindName(base.kind()), length);
  if (range)
    return Value::integer(base.as<RangeObject>().at(uint64_t(at)));
  if (string)
    return run.heap.make<StringObject>(characters->at(at));
  return base.items()[at];
}

Value sliceOf(Run &run, const Value &base, const SliceBounds &bounds, Span span) {
  if (base.is(ValueKind::Range))
    return sliceOfRange(run, base.as<RangeObject>(), bounds, span);
  if (base.isSequence())
    return sliceOfSequence(run, base, bounds, span);
  if (base.is(ValueKind::String))
    return sliceOfString(run, base.string(), bounds, span);
  return run.error(ErrorCode::E0317, span, "{} has no elements", kindName(base.kind()));
}

} // namespace lstmc::lnet
