// x[i], x[a:b], x[..., k] of build-time values and of tensors.
#include <algorithm>

#include "frontend/lnet/Evaluator.h"

namespace lstmc::lnet {

namespace {

/// Byte offsets of the characters of a string, and its end; empty for ASCII, where they are the
/// numbers themselves.
std::vector<size_t> characterOffsets(const std::string &text) {
  if (std::none_of(text.begin(), text.end(), [](char c) { return c & 0x80; }))
    return {};
  std::vector<size_t> offsets;
  for (size_t i = 0; i < text.size(); ++i)
    if ((text[i] & 0xC0) != 0x80)
      offsets.push_back(i);
  offsets.push_back(text.size());
  return offsets;
}

struct Window {
  int64_t start, stop, step;
  int64_t size() const { return int64_t(RangeObject(start, stop, step).size()); }
};

/// Python's clipping of a slice to a length.
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

} // namespace

Value Evaluator::evaluateIndex(const IndexExpr *expr) {
  Value base = evaluate(expr->base);
  bool plain = std::none_of(expr->items.begin(), expr->items.end(), [](const Expr *item) {
    return item->kind == ExprKind::Slice || item->kind == ExprKind::Ellipsis;
  });
  if (base.is(ValueKind::Tensor))
    return indexTensor(base, expr);
  if (expr->items.size() == 1 && expr->items[0]->kind == ExprKind::Slice && !expr->isTuple)
    return slice(base, static_cast<const SliceExpr *>(expr->items[0]), expr);
  if (!plain) {
    if (base.isUnknown())
      return base;
    return error(ErrorCode::E0317, expr->span, "{} has one axis", kindName(base.kind()));
  }
  Value key;
  if (expr->isTuple) {
    std::vector<Value> items;
    for (const Expr *item : expr->items)
      items.push_back(evaluate(item));
    key = makeSequence(ValueKind::Tuple, std::move(items), expr->span);
  } else {
    key = evaluate(expr->items[0]);
  }
  return index(base, key, expr);
}

Value Evaluator::index(const Value &base, const Value &key, const IndexExpr *expr) {
  if (base.isUnknown() || key.isUnknown())
    return Value::unknown();
  Span span = expr->items[0]->span;
  if (base.is(ValueKind::Dict)) {
    auto &dict = base.as<DictObject>();
    std::optional<size_t> hash = hashOf(key);
    if (!hash)
      return error(ErrorCode::E0317, span, "{} can be no key of a dict", kindName(key.kind()));
    auto [from, to] = dict.index.equal_range(*hash);
    for (auto at = from; at != to; ++at)
      if (equal(dict.entries[at->second].first, key).value_or(false))
        return dict.entries[at->second].second;
    return error(ErrorCode::E0305, span, "key {} of a dict of {}", reprOf(key),
                 dict.entries.size());
  }
  bool string = base.is(ValueKind::String), range = base.is(ValueKind::Range);
  if (!base.isSequence() && !string && !range)
    return error(ErrorCode::E0317, expr->span, "{} has no elements", kindName(base.kind()));
  if (!key.is(ValueKind::Integer))
    return error(ErrorCode::E0317, span, "an index is an integer, got {}", reprOf(key));
  std::vector<size_t> offsets;
  int64_t length =
      range ? int64_t(std::min<uint64_t>(base.as<RangeObject>().size(), INT64_MAX)) : 0;
  if (string) {
    if (!stepMany(base.string().size() / 16, span))
      return Value::unknown();
    offsets = characterOffsets(base.string());
    length = int64_t(offsets.empty() ? base.string().size() : offsets.size() - 1);
  } else if (!range) {
    length = int64_t(base.items().size());
  }
  int64_t at = key.integer() < 0 ? key.integer() + length : key.integer();
  if (at < 0 || at >= length)
    return error(ErrorCode::E0305, span, "index {} of {} of {}", key.integer(),
                 kindName(base.kind()), length);
  if (range)
    return Value::integer(base.as<RangeObject>().at(uint64_t(at)));
  if (!string)
    return base.items()[at];
  size_t begin = offsets.empty() ? size_t(at) : offsets[at],
         end = offsets.empty() ? begin + 1 : offsets[at + 1];
  return heap_.make<StringObject>(base.string().substr(begin, end - begin));
}

Value Evaluator::slice(const Value &base, const SliceExpr *slice, const IndexExpr *expr) {
  std::optional<int64_t> parts[3];
  const Expr *exprs[3] = {slice->begin, slice->end, slice->step};
  bool known = !base.isUnknown();
  for (int i = 0; i < 3; ++i) {
    if (!exprs[i])
      continue;
    Value value = evaluate(exprs[i]);
    known &= !value.isUnknown();
    if (value.is(ValueKind::Integer)) {
      parts[i] = value.integer();
    } else if (!value.is(ValueKind::None) && !value.isUnknown()) {
      error(ErrorCode::E0317, exprs[i]->span, "a slice has integers, got {}", reprOf(value));
      known = false;
    }
  }
  if (!known)
    return Value::unknown();
  int64_t step = parts[2].value_or(1);
  if (step == 0)
    return error(ErrorCode::E0317, exprs[2]->span, "a slice has a step other than 0, got 0");
  if (step == INT64_MIN)
    step = -INT64_MAX;
  if (base.is(ValueKind::Range)) {
    auto &range = base.as<RangeObject>();
    Window window =
        clip(parts[0], parts[1], step, int64_t(std::min<uint64_t>(range.size(), INT64_MAX)));
    int64_t stride = 0;
    if (__builtin_mul_overflow(range.step, step, &stride))
      stride = (range.step < 0) != (step < 0) ? -INT64_MAX : INT64_MAX;
    int64_t size = window.size();
    if (size == 0)
      return heap_.make<RangeObject>(0, 0, 1);
    int64_t first = range.at(uint64_t(window.start)),
            last = range.at(uint64_t(window.start + (size - 1) * step));
    int64_t stop = 0;
    if (__builtin_add_overflow(last, stride > 0 ? 1 : -1, &stop))
      return error(ErrorCode::E0304, expr->span, "the end of the range overflows");
    return heap_.make<RangeObject>(first, stop, stride);
  }
  if (base.isSequence()) {
    Window window = clip(parts[0], parts[1], step, int64_t(base.items().size()));
    std::vector<Value> items;
    int64_t size = window.size();
    if (!stepMany(uint64_t(size), expr->span))
      return Value::unknown();
    for (int64_t i = 0; i < size; ++i)
      items.push_back(base.items()[window.start + i * step]);
    return makeSequence(base.kind(), std::move(items), expr->span);
  }
  if (!base.is(ValueKind::String))
    return error(ErrorCode::E0317, expr->span, "{} has no elements", kindName(base.kind()));
  const std::string &text = base.string();
  if (!stepMany(text.size() / 16, expr->span))
    return Value::unknown();
  std::vector<size_t> offsets = characterOffsets(text);
  Window window =
      clip(parts[0], parts[1], step, int64_t(offsets.empty() ? text.size() : offsets.size() - 1));
  std::string result;
  int64_t size = window.size();
  for (int64_t i = 0; i < size; ++i) {
    size_t at = size_t(window.start + i * step);
    result += offsets.empty() ? text.substr(at, 1)
                              : text.substr(offsets[at], offsets[at + 1] - offsets[at]);
  }
  return makeString(std::move(result), expr->span);
}

/// One `slice_axis` or `slice` for the windows, and a `squeeze` for the axes that an integer picks
/// from.
Value Evaluator::indexTensor(const Value &base, const IndexExpr *expr) {
  struct Axis {
    int64_t axis;
    std::optional<int64_t> begin, end, step;
    bool pick;
    const Expr *place;
  };
  symbol::Shape shape = base.as<TensorObject>().symbol.shape();
  size_t ellipsis = expr->items.size();
  for (size_t i = 0; i < expr->items.size(); ++i)
    if (expr->items[i]->kind == ExprKind::Ellipsis) {
      if (ellipsis < expr->items.size())
        return error(ErrorCode::E0317, expr->items[i]->span, "an index has \"...\" once");
      ellipsis = i;
    }
  int64_t count = int64_t(expr->items.size()) - (ellipsis < expr->items.size());
  int64_t rank = shape.ranked ? int64_t(shape.dims.size()) : -1;
  if (rank >= 0 && count > rank)
    return error(ErrorCode::E0305, expr->span, "{} indices for a tensor of {} axes", count, rank);

  std::vector<Axis> axes;
  bool known = true;
  for (size_t i = 0; i < expr->items.size(); ++i) {
    const Expr *item = expr->items[i];
    if (i == ellipsis)
      continue;
    int64_t axis = i < ellipsis
                       ? int64_t(i)
                       : int64_t(i) - int64_t(expr->items.size()) + std::max<int64_t>(rank, 0);
    Axis entry{axis, {}, {}, {}, item->kind != ExprKind::Slice, item};
    auto part = [&](const Expr *source, std::optional<int64_t> &target) {
      if (!source)
        return;
      Value value = evaluate(source);
      known &= !value.isUnknown();
      if (value.is(ValueKind::Integer)) {
        target = value.integer();
      } else if (!value.isUnknown() && !(value.is(ValueKind::None) && !entry.pick)) {
        error(ErrorCode::E0317, source->span, "an index is an integer, got {}", reprOf(value));
        known = false;
      }
    };
    if (entry.pick) {
      part(item, entry.begin);
    } else {
      auto *window = static_cast<const SliceExpr *>(item);
      part(window->begin, entry.begin);
      part(window->end, entry.end);
      part(window->step, entry.step);
      if (known && !entry.begin && !entry.end && !entry.step)
        continue;
    }
    axes.push_back(entry);
  }
  if (!known)
    return Value::unknown();

  for (Axis &axis : axes) {
    int64_t extent = rank >= 0 ? shape.dims[axis.axis].extent : symbol::kUnknown;
    int64_t step = axis.step.value_or(1);
    if (step == 0)
      return error(ErrorCode::E0317, axis.place->span, "a slice has a step other than 0, got 0");
    if (axis.pick) {
      int64_t at = *axis.begin;
      if (extent != symbol::kUnknown && (at < -extent || at >= extent)) {
        const std::string &name = shape.dims[axis.axis].name;
        return error(ErrorCode::E0305, axis.place->span, "index {} of axis {}, which has {}{}{}",
                     at, axis.axis, name, name.empty() ? "" : "=", extent);
      }
      axis.end = at == -1 ? std::nullopt : std::optional<int64_t>(at + 1);
    } else if (extent != symbol::kUnknown) {
      Window window = clip(axis.begin, axis.end, step, extent);
      if (window.size() == 0)
        return error(ErrorCode::E0305, axis.place->span, "the slice of axis {} is empty",
                     axis.axis);
      if (step == 1) {
        axis.begin = window.start;
        axis.end = window.stop;
      }
    }
  }
  std::erase_if(axes, [&](const Axis &axis) {
    int64_t extent = rank >= 0 ? shape.dims[axis.axis].extent : symbol::kUnknown;
    return !axis.pick && axis.step.value_or(1) == 1 && axis.begin.value_or(0) == 0 &&
           extent != symbol::kUnknown && axis.end == extent;
  });
  if (axes.empty())
    return base;

  Value result = base;
  bool one = axes.size() == 1 && axes[0].step.value_or(1) == 1;
  if (one) {
    symbol::AttributeValue end;
    if (axes[0].end)
      end = *axes[0].end;
    result = applyOne("slice_axis", {base},
                      {{"axis", axes[0].axis}, {"begin", axes[0].begin.value_or(0)}, {"end", end}},
                      expr->span, {expr->base});
  } else {
    int64_t highest = -1;
    for (const Axis &axis : axes) {
      if (axis.axis < 0)
        return error(ErrorCode::E0211, expr->span,
                     "the rank of the tensor follows from nothing yet");
      highest = std::max(highest, axis.axis);
    }
    symbol::Tuple begin(highest + 1), end(highest + 1), step(highest + 1);
    bool steps = false;
    for (const Axis &axis : axes) {
      begin[axis.axis] = axis.begin;
      end[axis.axis] = axis.end;
      step[axis.axis] = axis.step;
      steps |= axis.step.value_or(1) != 1;
    }
    std::vector<symbol::NamedAttribute> attributes{{"begin", begin}, {"end", end}};
    if (steps)
      attributes.push_back({"step", step});
    result = applyOne("slice", {base}, std::move(attributes), expr->span, {expr->base});
  }
  symbol::Tuple picked;
  for (const Axis &axis : axes)
    if (axis.pick)
      picked.push_back(axis.axis);
  if (picked.empty() || result.isUnknown())
    return result;
  return applyOne("squeeze", {result}, {{"axis", picked}}, expr->span, {expr->base});
}

} // namespace lstmc::lnet
