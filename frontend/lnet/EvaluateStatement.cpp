#include "frontend/lnet/Evaluator.h"

#include "frontend/symbol/Suggest.h"

namespace lstmc::lnet {

Evaluator::Flow Evaluator::run(Block block) {
  for (const Stmt *stmt : block) {
    if (aborted_)
      return Flow::Next;
    if (runStatement(stmt) == Flow::Return)
      return Flow::Return;
  }
  return Flow::Next;
}

Evaluator::Flow Evaluator::runStatement(const Stmt *stmt) {
  switch (stmt->kind) {
  case StmtKind::Expression:
    evaluate(static_cast<const ExpressionStmt *>(stmt)->value);
    return Flow::Next;
  case StmtKind::Assign: {
    auto *assignment = static_cast<const AssignStmt *>(stmt);
    assign(assignment->targets, evaluate(assignment->value), assignment->value);
    return Flow::Next;
  }
  case StmtKind::Annotated: {
    auto *annotated = static_cast<const AnnotatedStmt *>(stmt);
    Value value = evaluate(annotated->value);
    checkType(value, evaluateType(annotated->type), annotated->target->name,
              annotated->target->span);
    assignName(annotated->target, std::move(value));
    return Flow::Next;
  }
  case StmtKind::Augmented: {
    auto *augmented = static_cast<const AugmentedStmt *>(stmt);
    Value old = evaluate(augmented->target), value = evaluate(augmented->value);
    assignName(augmented->target, binary(augmented->op, old, value, augmented->opSpan,
                                         augmented->target, augmented->value));
    return Flow::Next;
  }
  case StmtKind::Import:
    runImport(static_cast<const ImportStmt *>(stmt));
    return Flow::Next;
  case StmtKind::Return: {
    auto *result = static_cast<const ReturnStmt *>(stmt);
    returned_ = result->value ? evaluate(result->value) : Value::none();
    return Flow::Return;
  }
  case StmtKind::Assert: {
    auto *assertion = static_cast<const AssertStmt *>(stmt);
    std::optional<bool> holds = truth(evaluate(assertion->condition), assertion->condition->span);
    if (holds.value_or(true))
      return Flow::Next;
    std::string text(module_->file->text(assertion->condition->span));
    if (assertion->message) {
      Value message = evaluate(assertion->message);
      if (message.isUnknown())
        return Flow::Next;
      text = textOf(message);
    }
    error(ErrorCode::E0306, assertion->condition->span, "assertion failed: {}", text);
    return Flow::Next;
  }
  case StmtKind::Pass:
    return Flow::Next;
  case StmtKind::Def:
    runDef(static_cast<const DefStmt *>(stmt));
    return Flow::Next;
  case StmtKind::For:
    return runFor(static_cast<const ForStmt *>(stmt));
  case StmtKind::If:
    return runIf(static_cast<const IfStmt *>(stmt));
  case StmtKind::With:
    return runWith(static_cast<const WithStmt *>(stmt));
  }
  return Flow::Next;
}

Evaluator::Flow Evaluator::runIf(const IfStmt *stmt) {
  // A chain of `elif` goes round here, not down.
  while (true) {
    std::optional<bool> holds = truth(evaluate(stmt->condition), stmt->condition->span);
    if (!holds)
      return skipUnknown({stmt->body, stmt->otherwise});
    if (*holds)
      return run(stmt->body);
    if (stmt->otherwise.size() != 1 || stmt->otherwise[0]->kind != StmtKind::If)
      return run(stmt->otherwise);
    stmt = static_cast<const IfStmt *>(stmt->otherwise[0]);
  }
}

/// Nobody knows whether these blocks run: what they would set is unknown from here on.
Evaluator::Flow Evaluator::skipUnknown(std::initializer_list<Block> blocks) {
  bool mayReturn = false;
  for (Block block : blocks) {
    std::vector<const NameExpr *> names;
    assignedNames(block, names);
    for (const NameExpr *name : names)
      if (name->binding == Binding::Slot && name->hops == 0)
        assignName(name, Value::unknown());
    mayReturn |= returns(block);
  }
  if (!mayReturn)
    return Flow::Next;
  returned_ = Value::unknown();
  return Flow::Return;
}

Evaluator::Flow Evaluator::runFor(const ForStmt *stmt) {
  Value iterable = evaluate(stmt->iterable);
  if (iterable.isUnknown()) {
    assign(stmt->targets, Value::unknown(), stmt->iterable);
    return skipUnknown({stmt->body});
  }
  Flow flow = Flow::Next;
  loops_.push_back({stmt->targets, stmt->iterable->span, module_, Value()});
  loops_.back().nodesBefore = loops_.back().nodesAtIteration = nodes_;
  loops_.back().stepsBefore = stepsLeft_;
  loops_.back().callDepth = calls_.size();
  forEach(iterable, stmt->iterable, [&](Value item) {
    assign(stmt->targets, std::move(item), stmt->iterable);
    flow = run(stmt->body);
    return flow == Flow::Next;
  });
  loops_.pop_back();
  return flow;
}

void Evaluator::beginIteration(Value item, uint64_t count) {
  LoopRecord &loop = loops_.back();
  loop.lastIteration = nodes_ - loop.nodesAtIteration;
  loop.nodesAtIteration = nodes_;
  loop.lastCostly = loop.costly;
  loop.costly = {};
  loop.item = std::move(item);
  loop.count = count;
}

bool Evaluator::forEach(const Value &iterable, const Expr *source,
                        const std::function<bool(Value)> &body) {
  auto each = [&](uint64_t index, uint64_t count, Value item) {
    if (!step(source->span))
      return false;
    beginIteration(item, count);
    loops_.back().index = index;
    return body(std::move(item)) && !aborted_;
  };
  switch (iterable.kind()) {
  case ValueKind::Unknown:
    return false;
  case ValueKind::Tuple:
  case ValueKind::List:
    for (size_t i = 0; i < iterable.items().size(); ++i) // a list may grow meanwhile
      if (!each(i, iterable.items().size(), iterable.items()[i]))
        break;
    return true;
  case ValueKind::Range: {
    auto &range = iterable.as<RangeObject>();
    uint64_t count = range.size();
    for (uint64_t i = 0; i < count; ++i)
      if (!each(i, count, Value::integer(range.at(i))))
        break;
    return true;
  }
  case ValueKind::String: {
    const std::string &text = iterable.string();
    size_t at = 0, index = 0;
    while (at < text.size()) {
      size_t end = at + 1;
      while (end < text.size() && (text[end] & 0xC0) == 0x80)
        ++end;
      if (!each(index++, text.size(), heap_.make<StringObject>(text.substr(at, end - at))))
        break;
      at = end;
    }
    return true;
  }
  case ValueKind::Dict: {
    auto &entries = iterable.as<DictObject>().entries;
    for (size_t i = 0; i < entries.size(); ++i)
      if (!each(i, entries.size(), entries[i].first))
        break;
    return true;
  }
  default:
    error(ErrorCode::E0317, source->span, "{} has no elements to go over",
          kindName(iterable.kind()));
    return false;
  }
}

Evaluator::Flow Evaluator::runWith(const WithStmt *stmt) {
  using Kind = symbol::Scope::Kind;
  constexpr std::pair<std::string_view, Kind> kScopes[] = {{"ctx_group", Kind::ContextGroup},
                                                           {"recompute", Kind::Recompute},
                                                           {"dtype", Kind::DType},
                                                           {"name_scope", Kind::NameScope}};
  size_t pushed = 0, named = 0;
  for (const ScopeItem &item : stmt->scopes) {
    const Kind *kind = nullptr;
    for (auto &[name, value] : kScopes)
      if (name == item.name)
        kind = &value;
    Arguments arguments;
    evaluateArguments(item.call, arguments);
    if (!kind) {
      Diagnostic diagnostic = makeError(ErrorCode::E0201, item.nameSpan,
                                        fmt::format("no scope is named \"{}\"", item.name));
      diagnostic.help = didYouMean(item.name, {"ctx_group", "recompute", "dtype", "name_scope"});
      report(std::move(diagnostic));
      continue;
    }
    std::vector<Value> values;
    std::vector<const Expr *> places;
    std::string text;
    if (*kind == Kind::Recompute) {
      if (!bindBuiltin(item.name, arguments, {}, values))
        continue;
    } else {
      std::string_view parameter = *kind == Kind::DType          ? "dtype"
                                   : *kind == Kind::ContextGroup ? "group"
                                                                 : "prefix";
      if (!bindBuiltin(item.name, arguments, {{parameter, true}}, values, &places) ||
          values[0].isUnknown())
        continue;
      if (!values[0].is(ValueKind::String)) {
        error(ErrorCode::E0204, places[0]->span, "{} of {} is a string, got {}", parameter,
              item.name, reprOf(values[0]));
        continue;
      }
      text = values[0].string();
      if (text.size() > options_.limits.name) {
        limitError(
            ErrorCode::E0315, places[0]->span,
            fmt::format("name of {} bytes, the limit is {}", text.size(), options_.limits.name),
            "name");
        continue;
      }
      if (*kind == Kind::DType && !parseDType(text)) {
        error(ErrorCode::E0204, places[0]->span, "no dtype is named {}", reprOf(values[0]));
        continue;
      }
    }
    if (*kind == Kind::NameScope) {
      nameScopes_.push_back(text);
      ++named;
    }
    if (graph_) {
      graph_->push({*kind, text});
      ++pushed;
    }
  }
  Flow flow = run(stmt->body);
  for (; pushed > 0; --pushed)
    graph_->pop();
  for (; named > 0; --named)
    nameScopes_.pop_back();
  return flow;
}

/// A second def or import of one name in a file or function is an error (E0210).
void Evaluator::define(const NameExpr *name, const Stmt *stmt) {
  auto &defined = frame_->defined;
  if (defined.size() < frame_->slots.size())
    defined.resize(frame_->slots.size());
  const Stmt *&earlier = defined[name->slot];
  if (earlier && earlier != stmt) {
    Span span = earlier->span;
    if (earlier->kind == StmtKind::Def)
      span = static_cast<const DefStmt *>(earlier)->name->span;
    else
      for (const ImportedName &imported : static_cast<const ImportStmt *>(earlier)->names)
        if (imported.target->slot == name->slot)
          span = imported.target->span;
    Diagnostic diagnostic = makeError(ErrorCode::E0210, name->span,
                                      fmt::format("\"{}\" is already defined at {}", name->name,
                                                  module_->file->placeText(span.begin)));
    report(std::move(diagnostic));
  }
  earlier = stmt;
}

void Evaluator::runDef(const DefStmt *stmt) {
  Value made = heap_.make<FunctionObject>();
  auto &function = made.as<FunctionObject>();
  function.def = stmt;
  function.module = module_;
  function.closure = Value::object(frame_);
  for (const Parameter &parameter : stmt->parameters) {
    function.types.push_back(parameter.type ? evaluateType(parameter.type) : nullptr);
    function.defaults.push_back(parameter.defaultValue ? evaluate(parameter.defaultValue)
                                                       : Value());
  }
  if (stmt->result)
    function.result = evaluateType(stmt->result);
  define(stmt->name, stmt);
  assignName(stmt->name, std::move(made));
}

void Evaluator::assignName(const NameExpr *name, Value value) {
  FrameObject *frame = frame_;
  for (uint16_t hops = name->hops; hops > 0; --hops)
    frame = &frame->parent.as<FrameObject>();
  frame->slots[name->slot] = std::move(value);
}

void Evaluator::assign(const Expr *targets, Value value, const Expr *source) {
  if (targets->kind == ExprKind::Name)
    return assignName(static_cast<const NameExpr *>(targets), std::move(value));
  auto &wanted = static_cast<const SequenceExpr *>(targets)->elements;
  std::optional<std::vector<Value>> items;
  if (!value.isUnknown())
    items = elements(value, source);
  if (items && items->size() != wanted.size()) {
    error(ErrorCode::E0305, targets->span, "{} names for {} values", wanted.size(), items->size());
    items.reset();
  }
  for (size_t i = 0; i < wanted.size(); ++i)
    assign(wanted[i], items ? std::move((*items)[i]) : Value::unknown(), source);
}

std::optional<bool> Evaluator::truth(const Value &value, Span span) {
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
    report(makeError(ErrorCode::E0301, span, "a tensor has no value at build time",
                     "where(condition, a, b)"));
    return std::nullopt;
  default:
    return true;
  }
}

} // namespace lstmc::lnet
