#include "frontend/lnet/Evaluator.h"

#include "frontend/lnet/Builtins.h"
#include "frontend/symbol/Suggest.h"

namespace lstmc::lnet {

Value Evaluator::evaluate(const Expr *expr) {
  if (!step(expr->span))
    return Value::unknown();
  switch (expr->kind) {
  case ExprKind::Name:
    return evaluateName(static_cast<const NameExpr *>(expr));
  case ExprKind::Integer:
    return Value::integer(static_cast<const IntegerExpr *>(expr)->value);
  case ExprKind::Float:
    return Value::number(static_cast<const FloatExpr *>(expr)->value);
  case ExprKind::String:
    return stepMany(static_cast<const StringExpr *>(expr)->value->size() / 4, expr->span)
               ? heap_.make<StringObject>(*static_cast<const StringExpr *>(expr)->value)
               : Value::unknown();
  case ExprKind::True:
    return Value::boolean(true);
  case ExprKind::False:
    return Value::boolean(false);
  case ExprKind::None:
    return Value::none();
  case ExprKind::Tuple:
  case ExprKind::List:
    return evaluateSequence(static_cast<const SequenceExpr *>(expr));
  case ExprKind::Dict:
    return evaluateDict(static_cast<const DictExpr *>(expr));
  case ExprKind::Comprehension:
    return evaluateComprehension(static_cast<const ComprehensionExpr *>(expr));
  case ExprKind::Unary: {
    auto *node = static_cast<const UnaryExpr *>(expr);
    return unary(node->op, evaluate(node->operand), node);
  }
  case ExprKind::Binary: {
    auto *node = static_cast<const BinaryExpr *>(expr);
    Value left = evaluate(node->left);
    Value right = evaluate(node->right);
    return binary(node->op, left, right, node->opSpan, node->left, node->right);
  }
  case ExprKind::Compare:
    return evaluateCompare(static_cast<const CompareExpr *>(expr));
  case ExprKind::And:
  case ExprKind::Or:
    return evaluateLogic(static_cast<const BinaryExpr *>(expr));
  case ExprKind::Not: {
    auto *node = static_cast<const UnaryExpr *>(expr);
    std::optional<bool> value = truth(evaluate(node->operand), node->operand->span);
    return value ? Value::boolean(!*value) : Value::unknown();
  }
  case ExprKind::Conditional: {
    auto *node = static_cast<const ConditionalExpr *>(expr);
    std::optional<bool> value = truth(evaluate(node->condition), node->condition->span);
    if (!value)
      return Value::unknown();
    return evaluate(*value ? node->then : node->otherwise);
  }
  case ExprKind::Lambda:
    return evaluateLambda(static_cast<const LambdaExpr *>(expr));
  case ExprKind::Call:
    return evaluateCall(static_cast<const CallExpr *>(expr));
  case ExprKind::Index:
    return evaluateIndex(static_cast<const IndexExpr *>(expr));
  case ExprKind::Attribute:
    return evaluateAttribute(static_cast<const AttributeExpr *>(expr));
  case ExprKind::Slice:
  case ExprKind::Ellipsis:
    break; // their index deals with them
  }
  return Value::unknown();
}

Value Evaluator::evaluateName(const NameExpr *expr) {
  if (expr->binding == Binding::Slot) {
    FrameObject *frame = frame_;
    for (uint16_t hops = expr->hops; hops > 0; --hops)
      frame = &frame->parent.as<FrameObject>();
    const Value &value = frame->slots[expr->slot];
    if (!value.is(ValueKind::Unset))
      return value;
    // At file level a name that is set later may be a built-in one until then, as in Python.
    if (frame->parent.is(ValueKind::Unset))
      if (Value other = outside(expr); !other.is(ValueKind::Unset))
        return other;
    if (expr->name == "_")
      return Value::infer();
    return error(ErrorCode::E0212, expr->span, "\"{}\" is read before it is set", expr->name);
  }
  Value value = outside(expr);
  return value.is(ValueKind::Unset) ? unknownName(expr) : value;
}

Value Evaluator::outside(const NameExpr *expr) {
  if (expr->binding == Binding::Outside && expr->slot > 0)
    return outside_[expr->slot - 1];
  Value value = findOutside(expr->name);
  if (expr->binding == Binding::Outside && !value.is(ValueKind::Unset)) {
    outside_.push_back(value);
    expr->slot = uint32_t(outside_.size());
  }
  return value;
}

Value Evaluator::findOutside(std::string_view name) {
  if (const BuiltinRecord *record = findBuiltin(name))
    if (!record->internal || module_->internal)
      return Value::builtin(record);
  if (isLayer(name))
    if (Module *file = layers()) {
      auto at = file->tree->scope->slots.find(name);
      if (at != file->tree->scope->slots.end())
        return file->globals.as<FrameObject>().slots[at->second];
    }
  if (const symbol::OpSignature *op = symbol::findOp(name))
    return Value::op(op);
  return Value();
}

Value Evaluator::unknownName(const NameExpr *expr) {
  if (expr->name == "_")
    return Value::infer();
  if (isUnbuiltOp(expr->name))
    return error(ErrorCode::E0215, expr->span, "{} is not built yet", expr->name);
  std::vector<std::string_view> candidates;
  for (const symbol::OpSignature &op : symbol::allOps()) {
    candidates.push_back(op.name);
    for (const std::string &alias : op.aliases)
      candidates.push_back(alias);
  }
  for (std::string_view name : builtinNames())
    candidates.push_back(name);
  for (std::string_view name : module_->tree->scope->names)
    candidates.push_back(name);
  std::erase_if(candidates, [](std::string_view name) { return name.starts_with('_'); });
  return report(makeError(ErrorCode::E0201, expr->span,
                          fmt::format("no op or function is named \"{}\"", expr->name),
                          didYouMean(expr->name, candidates)));
}

/// A list knows the function that made it, which alone may change it.
Value Evaluator::makeSequence(ValueKind kind, std::vector<Value> items, Span span) {
  if (items.size() > options_.limits.list)
    return limitError(ErrorCode::E0314, span,
                      fmt::format("{} of {} elements, the limit is {}",
                                  kind == ValueKind::List ? "list" : "tuple",
                                  grouped(int64_t(items.size())),
                                  grouped(int64_t(options_.limits.list))),
                      "list");
  if (!stepMany(items.size(), span))
    return Value::unknown();
  Value result = heap_.make<SequenceObject>(kind, std::move(items));
  auto &sequence = result.as<SequenceObject>();
  sequence.owner = frame_->run;
  sequence.maker = owner_;
  return result;
}

Value Evaluator::makeString(std::string text, Span span) {
  if (text.size() > options_.limits.list)
    return limitError(ErrorCode::E0314, span,
                      fmt::format("string of {} bytes, the limit is {}",
                                  grouped(int64_t(text.size())),
                                  grouped(int64_t(options_.limits.list))),
                      "list");
  if (!stepMany(text.size() / 4, span))
    return Value::unknown();
  return heap_.make<StringObject>(std::move(text));
}

Value Evaluator::evaluateSequence(const SequenceExpr *expr) {
  std::vector<Value> items;
  items.reserve(expr->elements.size());
  for (const Expr *element : expr->elements)
    items.push_back(evaluate(element));
  return makeSequence(expr->kind == ExprKind::Tuple ? ValueKind::Tuple : ValueKind::List,
                      std::move(items), expr->span);
}

Value Evaluator::evaluateDict(const DictExpr *expr) {
  std::vector<std::pair<Value, Value>> entries;
  for (size_t i = 0; i < expr->keys.size(); ++i) {
    Value key = evaluate(expr->keys[i]);
    entries.emplace_back(std::move(key), evaluate(expr->values[i]));
  }
  return makeDict(std::move(entries), expr);
}

Value Evaluator::makeDict(std::vector<std::pair<Value, Value>> entries, const Expr *source) {
  if (entries.size() > options_.limits.list)
    return limitError(ErrorCode::E0314, source->span,
                      fmt::format("dict of {} elements, the limit is {}",
                                  grouped(int64_t(entries.size())),
                                  grouped(int64_t(options_.limits.list))),
                      "list");
  if (!stepMany(entries.size() * 2, source->span))
    return Value::unknown();
  Value result = heap_.make<DictObject>();
  auto &dict = result.as<DictObject>();
  for (auto &[key, value] : entries) {
    if (key.isUnknown())
      return Value::unknown();
    std::optional<size_t> hash = hashOf(key);
    if (!hash)
      return error(ErrorCode::E0317, source->span, "{} can be no key of a dict",
                   kindName(key.kind()));
    bool known = false;
    auto [from, to] = dict.index.equal_range(*hash);
    for (auto at = from; at != to && !known; ++at)
      if (equal(dict.entries[at->second].first, key).value_or(false)) {
        dict.entries[at->second].second = value;
        known = true;
      }
    if (known)
      continue;
    dict.index.emplace(*hash, dict.entries.size());
    dict.entries.emplace_back(std::move(key), std::move(value));
  }
  return result;
}

Value Evaluator::evaluateComprehension(const ComprehensionExpr *expr) {
  Value iterable = evaluate(expr->iterable);
  if (iterable.isUnknown())
    return iterable;
  Value frame =
      heap_.make<FrameObject>(Value::object(frame_), expr->scope->names.size(), frame_->run);
  FrameObject *outer = frame_;
  frame_ = &frame.as<FrameObject>();
  std::vector<Value> items;
  bool known = true;
  loops_.push_back({expr->targets, expr->iterable->span, module_, Value()});
  loops_.back().nodesBefore = loops_.back().nodesAtIteration = nodes_;
  loops_.back().stepsBefore = stepsLeft_;
  loops_.back().callDepth = calls_.size();
  known &= forEach(iterable, expr->iterable, [&](Value item) {
    assign(expr->targets, std::move(item), expr->iterable);
    if (expr->condition) {
      std::optional<bool> holds = truth(evaluate(expr->condition), expr->condition->span);
      known &= holds.has_value();
      if (!holds.value_or(false))
        return true;
    }
    items.push_back(evaluate(expr->element));
    if (items.size() <= options_.limits.list)
      return true;
    makeSequence(ValueKind::List, std::move(items), expr->span);
    known = false;
    return false;
  });
  loops_.pop_back();
  frame_ = outer;
  return known && !aborted_ ? makeSequence(ValueKind::List, std::move(items), expr->span)
                            : Value::unknown();
}

Value Evaluator::evaluateLogic(const BinaryExpr *expr) {
  // A chain leans to the left: go down it in a loop, then up.
  llvm::SmallVector<const BinaryExpr *, 8> chain;
  const Expr *first = expr;
  while (first->kind == expr->kind && (first == expr || !first->groupOpen)) {
    chain.push_back(static_cast<const BinaryExpr *>(first));
    first = chain.back()->left;
  }
  Value value = evaluate(first);
  const Expr *last = first;
  for (auto node = chain.rbegin(); node != chain.rend(); ++node) {
    std::optional<bool> left = truth(value, last->span);
    if (!left)
      return Value::unknown();
    if (*left == (expr->kind == ExprKind::Or))
      return value;
    value = evaluate((*node)->right);
    last = (*node)->right;
    if (value.is(ValueKind::Tensor))
      return truth(value, last->span), Value::unknown();
  }
  return value;
}

Value Evaluator::evaluateCompare(const CompareExpr *expr) {
  Value left = evaluate(expr->left);
  const Expr *leftPlace = expr->left;
  Value result;
  for (size_t i = 0; i < expr->terms.size(); ++i) {
    const CompareTerm &term = expr->terms[i];
    if (i > 0) {
      std::optional<bool> holds = truth(result, leftPlace->span);
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
    result = compare(term.op, left, right, term, leftPlace);
    left = std::move(right);
    leftPlace = term.right;
  }
  return result;
}

Value Evaluator::evaluateLambda(const LambdaExpr *expr) {
  Value made = heap_.make<FunctionObject>();
  auto &function = made.as<FunctionObject>();
  function.lambda = expr;
  function.module = module_;
  function.closure = Value::object(frame_);
  function.defaults.resize(expr->parameters.size());
  function.types.resize(expr->parameters.size());
  return made;
}

Value Evaluator::evaluateAttribute(const AttributeExpr *expr) {
  Value base = evaluate(expr->base);
  if (base.isUnknown())
    return base;
  if (base.is(ValueKind::Tensor)) {
    const symbol::Symbol &symbol = base.as<TensorObject>().symbol;
    if (expr->name == "dtype") {
      if (std::optional<DType> dtype = symbol.dtype())
        return makeString(std::string(dtypeLongName(*dtype)), expr->nameSpan);
      return error(ErrorCode::E0211, expr->nameSpan, "the dtype of \"{}\" follows from nothing yet",
                   symbol.name());
    }
    if (expr->name == "shape") {
      symbol::Shape shape = symbol.shape();
      std::vector<Value> extents;
      for (size_t i = 0; i < shape.dims.size(); ++i) {
        const symbol::Dim &dim = shape.dims[i];
        if (dim.extent == symbol::kUnknown)
          return error(ErrorCode::E0211, expr->nameSpan,
                       "axis {} of \"{}\" follows from nothing yet", i, symbol.name());
        auto known = std::find(dims_.begin(), dims_.end(), dim.name);
        extents.push_back(Value::integer(
            dim.extent, known == dims_.end() ? 0 : uint32_t(known - dims_.begin()) + 1));
      }
      if (!shape.ranked)
        return error(ErrorCode::E0211, expr->nameSpan,
                     "the shape of \"{}\" follows from nothing yet", symbol.name());
      return makeSequence(ValueKind::Tuple, std::move(extents), expr->span);
    }
  }
  return error(ErrorCode::E0317, expr->nameSpan, "{} has no attribute \"{}\"",
               kindName(base.kind()), expr->name);
}

} // namespace lstmc::lnet
