#include "frontend/lnet/net/TensorIndex.h"

#include <algorithm>

#include "frontend/lnet/evaluation/Subscripts.h"

namespace lstmc::lnet {

TensorIndex::TensorIndex(Interpreter &interpreter, Nodes &nodes, const Value &tensor,
                         const IndexExpr *expr)
    : interpreter_(interpreter), run_(interpreter.run), nodes_(nodes), tensor_(tensor), expr_(expr),
      shape_(tensor.as<TensorObject>().symbol.shape()),
      rank_(shape_.ranked ? int64_t(shape_.dims.size()) : -1), ellipsis_(expr->items.size()) {}

Value TensorIndex::make() {
  if (!findEllipsis() || !readAxes())
    return Value::unknown();
  for (Axis &axis : axes_)
    if (!fit(axis))
      return Value::unknown();
  std::erase_if(axes_, [&](const Axis &axis) { return isWhole(axis); });
  Value result = tensor_;
  if (!axes_.empty()) {
    bool one = axes_.size() == 1 && axes_[0].stepOrOne() == 1;
    result = one ? sliceAxis(axes_[0]) : sliceAxes();
    if (!result.isUnknown())
      result = squeeze(result);
  }
  return addAxes(result);
}

//===---- what the index says ---------------------------------------------------------------===//

bool TensorIndex::findEllipsis() {
  size_t items = expr_->items.size();
  for (size_t i = 0; i < items; ++i)
    if (expr_->items[i]->kind == ExprKind::Ellipsis) {
      if (ellipsis_ < items) {
        run_.error(ErrorCode::E0317, expr_->items[i]->span, "an index has \"...\" once");
        return false;
      }
      ellipsis_ = i;
    }
  int64_t count = int64_t(items) - (ellipsis_ < items) - std::ranges::count_if(expr_->items, isNew);
  if (rank_ < 0 || count <= rank_)
    return true;
  run_.error(ErrorCode::E0305, expr_->span, "{} indices for a tensor of {} axes", count, rank_);
  return false;
}

bool TensorIndex::readAxes() {
  for (size_t i = 0; i < expr_->items.size(); ++i)
    if (i != ellipsis_ && !isNew(expr_->items[i]))
      readAxis(i);
  return known_;
}

/// Items after the `...` count from the last axis.
void TensorIndex::readAxis(size_t i) {
  const Expr *item = expr_->items[i];
  // New axes do not count as axes of the tensor.
  auto axesIn = [&](size_t begin, size_t end) {
    return int64_t(end - begin) - std::count_if(expr_->items.begin() + ptrdiff_t(begin),
                                                expr_->items.begin() + ptrdiff_t(end), isNew);
  };
  int64_t number = axesIn(0, i);
  if (i > ellipsis_)
    number = std::max<int64_t>(rank_, 0) - axesIn(i, expr_->items.size());
  Axis axis{number, {}, {}, {}, item->kind != ExprKind::Slice, item};
  if (axis.pick) {
    axis.begin = readBound(item, false);
  } else {
    auto *window = static_cast<const SliceExpr *>(item);
    axis.begin = readBound(window->begin, true);
    axis.end = readBound(window->end, true);
    axis.step = readBound(window->step, true);
    if (!axis.begin && !axis.end && !axis.step)
      return;
  }
  axes_.push_back(axis);
}

std::optional<int64_t> TensorIndex::readBound(const Expr *source, bool mayBeNone) {
  if (!source)
    return std::nullopt;
  Value value = interpreter_.evaluate(source);
  if (value.is(ValueKind::Integer))
    return value.integer();
  if (mayBeNone && value.is(ValueKind::None))
    return std::nullopt;
  if (!value.isUnknown())
    run_.report(run_.makeError(
        ErrorCode::E0317, source->span,
        fmt::format("an index is an integer, got {}", reprOf(value)),
        value.is(ValueKind::Tensor)  ? "take(x, index, axis=0), or where(condition, x, 0.0)"
        : value.isSequence()         ? "Concat(x[0:1], x[2:3], dim=0)"
        : value.is(ValueKind::Float) ? "// divides integers, and int(x) cuts off"
                                     : ""));
  known_ = false;
  return std::nullopt;
}

//===---- against the shape -----------------------------------------------------------------===//

int64_t TensorIndex::extent(const Axis &axis) const {
  return rank_ >= 0 ? shape_.dims[axis.axis].extent : symbol::kUnknown;
}

bool TensorIndex::fit(Axis &axis) {
  if (axis.stepOrOne() == 0) {
    run_.error(ErrorCode::E0317, axis.place->span, "a slice has a step other than 0, got 0");
    return false;
  }
  return axis.pick ? fitPick(axis) : fitWindow(axis);
}

bool TensorIndex::fitPick(Axis &axis) {
  int64_t at = *axis.begin, length = extent(axis);
  if (length != symbol::kUnknown && (at < -length || at >= length)) {
    const std::string &name = shape_.dims[axis.axis].name;
    run_.error(ErrorCode::E0305, axis.place->span, "index {} of axis {}, which has {}{}{}", at,
               axis.axis, name, name.empty() ? "" : "=", length);
    return false;
  }
  if (at != -1) // -1 is the last element: no end
    axis.end = at + 1;
  return true;
}

bool TensorIndex::fitWindow(Axis &axis) {
  if (extent(axis) == symbol::kUnknown)
    return true;
  Window window = clip(axis.begin, axis.end, axis.stepOrOne(), extent(axis));
  if (window.size() == 0) {
    run_.error(ErrorCode::E0305, axis.place->span, "the slice of axis {} is empty", axis.axis);
    return false;
  }
  if (axis.stepOrOne() == 1) {
    axis.begin = window.start;
    axis.end = window.stop;
  }
  return true;
}

bool TensorIndex::isWhole(const Axis &axis) const {
  return !axis.pick && axis.stepOrOne() == 1 && axis.begin.value_or(0) == 0 &&
         extent(axis) != symbol::kUnknown && axis.end == extent(axis);
}

//===---- the nodes -------------------------------------------------------------------------===//

Value TensorIndex::sliceAxis(const Axis &axis) {
  symbol::AttributeValue end;
  if (axis.end)
    end = *axis.end;
  return nodes_.applyOne("slice_axis", {tensor_},
                         {{"axis", axis.axis}, {"begin", axis.begin.value_or(0)}, {"end", end}},
                         expr_->span, {expr_->base});
}

Value TensorIndex::sliceAxes() {
  int64_t highest = -1;
  for (const Axis &axis : axes_) {
    if (axis.axis < 0)
      return run_.error(ErrorCode::E0211, expr_->span,
                        "the rank of the tensor follows from nothing yet");
    highest = std::max(highest, axis.axis);
  }
  symbol::Tuple begin(highest + 1), end(highest + 1), step(highest + 1);
  for (const Axis &axis : axes_) {
    begin[axis.axis] = axis.begin;
    end[axis.axis] = axis.end;
    step[axis.axis] = axis.step;
  }
  std::vector<symbol::NamedAttribute> attributes{{"begin", begin}, {"end", end}};
  if (std::ranges::any_of(axes_, [](const Axis &axis) { return axis.stepOrOne() != 1; }))
    attributes.push_back({"step", step});
  return nodes_.applyOne("slice", {tensor_}, std::move(attributes), expr_->span, {expr_->base});
}

Value TensorIndex::squeeze(const Value &sliced) {
  symbol::Tuple picked;
  for (const Axis &axis : axes_)
    if (axis.pick)
      picked.push_back(axis.axis);
  if (picked.empty())
    return sliced;
  return nodes_.applyOne("squeeze", {sliced}, {{"axis", picked}}, expr_->span, {expr_->base});
}

/// The axes of `None`: those before the `...` are counted from the first axis of the result, those
/// after it from the last.
Value TensorIndex::addAxes(Value value) {
  auto expand = [&](int64_t axis) {
    if (!value.isUnknown())
      value = nodes_.applyOne("expand_dims", {value}, {{"axis", axis}}, expr_->span, {expr_->base});
  };
  int64_t before = 0, after = 0;
  for (size_t i = 0; i < ellipsis_; ++i) {
    if (isNew(expr_->items[i]))
      expand(before);
    before += isNew(expr_->items[i]) || expr_->items[i]->kind == ExprKind::Slice;
  }
  for (size_t i = expr_->items.size(); i-- > ellipsis_ + 1;) {
    if (isNew(expr_->items[i]))
      expand(-1 - after);
    after += isNew(expr_->items[i]) || expr_->items[i]->kind == ExprKind::Slice;
  }
  return value;
}

} // namespace lstmc::lnet
