#include "frontend/lnet/evaluation/Expressions.h"

#include <algorithm>

#include "frontend/lnet/evaluation/Collections.h"
#include "frontend/lnet/evaluation/Interpreter.h"
#include "frontend/lnet/evaluation/Loop.h"
#include "frontend/lnet/evaluation/Operators.h"
#include "frontend/lnet/evaluation/Resolve.h"
#include "frontend/lnet/evaluation/Subscripts.h"

namespace lstmc::lnet {

Expressions::Expressions(Interpreter &interpreter)
    : interpreter_(interpreter), run_(interpreter.run) {}

Value Expressions::evaluate(const Expr *expr) {
  if (!run_.step(expr->span))
    return Value::unknown();
  switch (expr->kind) {
  case ExprKind::Name:
    return interpreter_.names.read(static_cast<const NameExpr *>(expr));
  case ExprKind::Integer:
    return Value::integer(static_cast<const IntegerExpr *>(expr)->value);
  case ExprKind::Float:
    return Value::number(static_cast<const FloatExpr *>(expr)->value);
  case ExprKind::String:
    return string(static_cast<const StringExpr *>(expr));
  case ExprKind::True:
    return Value::boolean(true);
  case ExprKind::False:
    return Value::boolean(false);
  case ExprKind::None:
    return Value::none();
  case ExprKind::Tuple:
  case ExprKind::List:
    return sequence(static_cast<const SequenceExpr *>(expr));
  case ExprKind::Dict:
    return dict(static_cast<const DictExpr *>(expr));
  case ExprKind::Comprehension:
    return comprehension(static_cast<const ComprehensionExpr *>(expr));
  case ExprKind::Unary:
    return unary(static_cast<const UnaryExpr *>(expr));
  case ExprKind::Binary: {
    auto *node = static_cast<const BinaryExpr *>(expr);
    Value left = evaluate(node->left);
    Value right = evaluate(node->right);
    return binary(node->op, left, right, node->opSpan, node->left, node->right);
  }
  case ExprKind::Compare:
    return compareAll(static_cast<const CompareExpr *>(expr));
  case ExprKind::And:
  case ExprKind::Or:
    return logic(static_cast<const BinaryExpr *>(expr));
  case ExprKind::Not:
    return negation(static_cast<const UnaryExpr *>(expr));
  case ExprKind::Conditional:
    return conditional(static_cast<const ConditionalExpr *>(expr));
  case ExprKind::Lambda:
    return lambda(static_cast<const LambdaExpr *>(expr));
  case ExprKind::Call:
    return interpreter_.calls.call(static_cast<const CallExpr *>(expr));
  case ExprKind::Index:
    return index(static_cast<const IndexExpr *>(expr));
  case ExprKind::Attribute:
    return attribute(static_cast<const AttributeExpr *>(expr));
  case ExprKind::Slice:
  case ExprKind::Ellipsis:
    break; // evaluated by the index that they are in
  }
  return Value::unknown();
}

//===---- values as written -----------------------------------------------------------------===//

Value Expressions::string(const StringExpr *expr) {
  if (!run_.stepMany(expr->value->size() / 4, expr->span))
    return Value::unknown();
  return run_.heap.make<StringObject>(*expr->value);
}

Value Expressions::sequence(const SequenceExpr *expr) {
  std::vector<Value> items;
  items.reserve(expr->elements.size());
  for (const Expr *element : expr->elements)
    items.push_back(evaluate(element));
  return makeSequence(run_, expr->kind == ExprKind::Tuple ? ValueKind::Tuple : ValueKind::List,
                      std::move(items), expr->span);
}

Value Expressions::dict(const DictExpr *expr) {
  std::vector<std::pair<Value, Value>> entries;
  for (size_t i = 0; i < expr->keys.size(); ++i) {
    Value key = evaluate(expr->keys[i]);
    entries.emplace_back(std::move(key), evaluate(expr->values[i]));
  }
  return makeDict(run_, std::move(entries), expr->span);
}

Value Expressions::lambda(const LambdaExpr *expr) {
  Value made = run_.heap.make<FunctionObject>();
  auto &function = made.as<FunctionObject>();
  function.lambda = expr;
  function.module = run_.at.module;
  function.closure = Value::object(run_.at.frame);
  function.defaults.resize(expr->parameters.size());
  function.types.resize(expr->parameters.size());
  return made;
}

Value Expressions::comprehension(const ComprehensionExpr *expr) {
  Value iterable = evaluate(expr->iterable);
  if (iterable.isUnknown())
    return iterable;
  FrameObject *outer = run_.at.frame;
  Value frame = run_.heap.make<FrameObject>(Value::object(outer), *expr->scope, outer->run);
  run_.at.frame = &frame.as<FrameObject>();
  std::vector<Value> items;
  bool known = true;
  {
    Loop loop(run_, expr->targets, expr->iterable);
    known &= loop.forEach(iterable, [&](Value item) {
      interpreter_.names.assign(expr->targets, std::move(item), expr->iterable);
      if (expr->condition) {
        std::optional<bool> holds = truth(run_, evaluate(expr->condition), expr->condition->span);
        known &= holds.has_value();
        if (!holds.value_or(false))
          return true;
      }
      items.push_back(evaluate(expr->element));
      bool fits = run_.fits("list", "elements", items.size(), expr->span);
      known &= fits;
      return fits;
    });
  }
  run_.at.frame = outer;
  if (!known || run_.aborted())
    return Value::unknown();
  return makeSequence(run_, ValueKind::List, std::move(items), expr->span);
}

//===---- operators -------------------------------------------------------------------------===//

Value Expressions::unary(const UnaryExpr *expr) {
  Value operand = evaluate(expr->operand);
  if (!operand.is(ValueKind::Tensor))
    return signedValue(run_, expr->op, operand, expr->span);
  return expr->op == TokenKind::Plus ? operand : interpreter_.tensors.negative(operand, expr);
}

Value Expressions::binary(TokenKind op, const Value &left, const Value &right, Span opSpan,
                          const Expr *leftPlace, const Expr *rightPlace) {
  if (left.isUnknown() || right.isUnknown())
    return Value::unknown();
  if (left.is(ValueKind::Tensor) || right.is(ValueKind::Tensor))
    return interpreter_.tensors.binary(op, left, right, opSpan, leftPlace, rightPlace);
  return arithmetic(run_, op, left, right, opSpan, {leftPlace->span.begin, rightPlace->span.end});
}

Value Expressions::negation(const UnaryExpr *expr) {
  std::optional<bool> value = truth(run_, evaluate(expr->operand), expr->operand->span);
  return value ? Value::boolean(!*value) : Value::unknown();
}

Value Expressions::conditional(const ConditionalExpr *expr) {
  std::optional<bool> value = truth(run_, evaluate(expr->condition), expr->condition->span);
  return value ? evaluate(*value ? expr->then : expr->otherwise) : Value::unknown();
}

Value Expressions::logic(const BinaryExpr *expr) {
  // `a and b and c` is a tree that leans to the left: walk down it in a loop, not by recursion,
  // then evaluate upwards.
  llvm::SmallVector<const BinaryExpr *, 8> chain;
  const Expr *first = expr;
  while (first->kind == expr->kind && (first == expr || !first->groupOpen)) {
    chain.push_back(static_cast<const BinaryExpr *>(first));
    first = chain.back()->left;
  }
  Value value = evaluate(first);
  const Expr *last = first;
  for (auto node = chain.rbegin(); node != chain.rend(); ++node) {
    std::optional<bool> left = truth(run_, value, last->span);
    if (!left)
      return Value::unknown();
    if (*left == (expr->kind == ExprKind::Or))
      return value;
    value = evaluate((*node)->right);
    last = (*node)->right;
    if (value.is(ValueKind::Tensor))
      return truth(run_, value, last->span), Value::unknown();
  }
  return value;
}

Value Expressions::compareAll(const CompareExpr *expr) {
  Value left = evaluate(expr->left);
  const Expr *leftPlace = expr->left;
  Value result;
  for (size_t i = 0; i < expr->terms.size(); ++i) {
    const CompareTerm &term = expr->terms[i];
    if (i > 0) {
      std::optional<bool> holds = truth(run_, result, leftPlace->span);
      if (!holds)
        return Value::unknown();
      if (!*holds)
        return result;
    }
    if (!term.right) {
      if (left.isUnknown())
        return left;
      result = Value::boolean(left.is(ValueKind::None) == (term.op == CompareOp::IsNone));
      left = Value::none();
      continue;
    }
    Value right = evaluate(term.right);
    result = compare(term, left, right, leftPlace);
    left = std::move(right);
    leftPlace = term.right;
  }
  return result;
}

Value Expressions::compare(const CompareTerm &term, const Value &left, const Value &right,
                           const Expr *leftPlace) {
  if (left.isUnknown() || right.isUnknown())
    return Value::unknown();
  bool membership = term.op == CompareOp::In || term.op == CompareOp::NotIn;
  auto tensorOrNumber = [](const Value &v) { return v.is(ValueKind::Tensor) || v.isNumber(); };
  bool tensors = (left.is(ValueKind::Tensor) || right.is(ValueKind::Tensor)) &&
                 tensorOrNumber(left) && tensorOrNumber(right);
  if (tensors && !membership)
    return interpreter_.tensors.compare(term.op, left, right, term, leftPlace);
  return comparison(run_, term.op, left, right, term.opSpan);
}

//===---- parts of values -------------------------------------------------------------------===//

Value Expressions::index(const IndexExpr *expr) {
  Value base = evaluate(expr->base);
  if (base.is(ValueKind::Tensor))
    return interpreter_.tensors.index(base, expr);
  if (expr->items.size() == 1 && expr->items[0]->kind == ExprKind::Slice && !expr->isTuple)
    return slice(base, static_cast<const SliceExpr *>(expr->items[0]), expr);
  bool severalAxes = std::ranges::any_of(expr->items, [](const Expr *item) {
    return item->kind == ExprKind::Slice || item->kind == ExprKind::Ellipsis;
  });
  if (severalAxes) {
    if (base.isUnknown())
      return base;
    return run_.report(run_.makeError(ErrorCode::E0317, expr->span,
                                      fmt::format("{} has one axis", kindName(base.kind())),
                                      base.isSequence() ? unpackingHelp(base.items(), "..") : ""));
  }
  if (!expr->isTuple)
    return elementAt(run_, base, evaluate(expr->items[0]), expr);
  std::vector<Value> items;
  for (const Expr *item : expr->items)
    items.push_back(evaluate(item));
  Value key = makeSequence(run_, ValueKind::Tuple, std::move(items), expr->span);
  return elementAt(run_, base, key, expr);
}

Value Expressions::slice(const Value &base, const SliceExpr *slice, const IndexExpr *expr) {
  bool known = !base.isUnknown();
  auto bound = [&](const Expr *source) -> std::optional<int64_t> {
    if (!source)
      return std::nullopt;
    Value value = evaluate(source);
    known &= !value.isUnknown();
    if (value.is(ValueKind::Integer))
      return value.integer();
    if (!value.is(ValueKind::None) && !value.isUnknown()) {
      run_.error(ErrorCode::E0317, source->span, "a slice has integers, got {}", reprOf(value));
      known = false;
    }
    return std::nullopt;
  };
  SliceBounds bounds;
  bounds.begin = bound(slice->begin);
  bounds.end = bound(slice->end);
  bounds.step = bound(slice->step).value_or(1);
  if (!known)
    return Value::unknown();
  if (bounds.step == 0)
    return run_.error(ErrorCode::E0317, slice->step->span,
                      "a slice has a step other than 0, got 0");
  if (bounds.step == INT64_MIN)
    bounds.step = -INT64_MAX; // so that it can be negated
  return sliceOf(run_, base, bounds, expr->span);
}

Value Expressions::attribute(const AttributeExpr *expr) {
  Value base = interpreter_.names.ofModule(expr);
  if (base.is(ValueKind::Unset))
    base = evaluate(expr->base);
  if (base.isUnknown())
    return base;
  if (base.is(ValueKind::Tensor))
    return interpreter_.tensors.attribute(base, expr);
  return run_.error(ErrorCode::E0317, expr->nameSpan, "{} has no attribute \"{}\"",
                    kindName(base.kind()), expr->name);
}

} // namespace lstmc::lnet
