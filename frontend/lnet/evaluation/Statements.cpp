#include "frontend/lnet/evaluation/Statements.h"

#include "frontend/lnet/evaluation/Interpreter.h"
#include "frontend/lnet/evaluation/Loop.h"
#include "frontend/lnet/evaluation/Operators.h"
#include "frontend/lnet/evaluation/Resolve.h"

namespace lstmc::lnet {

using Flow = Statements::Flow;

Statements::Statements(Interpreter &interpreter)
    : interpreter_(interpreter), run_(interpreter.run) {}

Flow Statements::run(Block block) {
  for (const Stmt *stmt : block) {
    if (run_.aborted())
      return Flow::Next;
    if (runOne(stmt) == Flow::Return)
      return Flow::Return;
  }
  return Flow::Next;
}

Flow Statements::runOne(const Stmt *stmt) {
  switch (stmt->kind) {
  case StmtKind::Expression:
    interpreter_.evaluate(static_cast<const ExpressionStmt *>(stmt)->value);
    return Flow::Next;
  case StmtKind::Assign: {
    auto *assignment = static_cast<const AssignStmt *>(stmt);
    interpreter_.names.assign(assignment->targets, interpreter_.evaluate(assignment->value),
                              assignment->value);
    return Flow::Next;
  }
  case StmtKind::Annotated:
    runAnnotated(static_cast<const AnnotatedStmt *>(stmt));
    return Flow::Next;
  case StmtKind::Augmented:
    runAugmented(static_cast<const AugmentedStmt *>(stmt));
    return Flow::Next;
  case StmtKind::Import:
    interpreter_.imports.run(static_cast<const ImportStmt *>(stmt));
    return Flow::Next;
  case StmtKind::Return: {
    auto *result = static_cast<const ReturnStmt *>(stmt);
    returned_ = result->value ? interpreter_.evaluate(result->value) : Value::none();
    return Flow::Return;
  }
  case StmtKind::Assert:
    runAssert(static_cast<const AssertStmt *>(stmt));
    return Flow::Next;
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

void Statements::runAnnotated(const AnnotatedStmt *stmt) {
  Value value = interpreter_.evaluate(stmt->value);
  interpreter_.tensors.checkType(value, interpreter_.tensors.type(stmt->type), stmt->target->name,
                                 stmt->target->span);
  interpreter_.names.set(stmt->target, std::move(value));
}

void Statements::runAugmented(const AugmentedStmt *stmt) {
  Value old = interpreter_.evaluate(stmt->target);
  Value value = interpreter_.evaluate(stmt->value);
  interpreter_.names.set(stmt->target,
                         interpreter_.expressions.binary(stmt->op, old, value, stmt->opSpan,
                                                         stmt->target, stmt->value));
}

void Statements::runAssert(const AssertStmt *stmt) {
  Span span = stmt->condition->span;
  std::optional<bool> holds = truth(run_, interpreter_.evaluate(stmt->condition), span);
  if (holds.value_or(true))
    return;
  std::string text(run_.at.module->file->text(span));
  if (stmt->message) {
    Value message = interpreter_.evaluate(stmt->message);
    if (message.isUnknown())
      return;
    text = textOf(message);
  }
  run_.error(ErrorCode::E0306, span, "assertion failed: {}", text);
}

void Statements::runDef(const DefStmt *stmt) {
  Value made = run_.heap.make<FunctionObject>();
  auto &function = made.as<FunctionObject>();
  function.def = stmt;
  function.module = run_.at.module;
  function.closure = Value::object(run_.at.frame);
  for (const Parameter &parameter : stmt->parameters) {
    function.types.push_back(parameter.type ? interpreter_.tensors.type(parameter.type) : nullptr);
    function.defaults.push_back(
        parameter.defaultValue ? interpreter_.evaluate(parameter.defaultValue) : Value());
  }
  if (stmt->result)
    function.result = interpreter_.tensors.type(stmt->result);
  interpreter_.names.define(stmt->name, stmt);
  interpreter_.names.set(stmt->name, std::move(made));
}

Flow Statements::runIf(const IfStmt *stmt) {
  // A chain of `elif` is processed in a loop, without recursion.
  while (true) {
    std::optional<bool> holds =
        truth(run_, interpreter_.evaluate(stmt->condition), stmt->condition->span);
    if (!holds)
      return skipUnknown({stmt->body, stmt->otherwise});
    if (*holds)
      return run(stmt->body);
    if (stmt->otherwise.size() != 1 || stmt->otherwise[0]->kind != StmtKind::If)
      return run(stmt->otherwise);
    stmt = static_cast<const IfStmt *>(stmt->otherwise[0]);
  }
}

Flow Statements::runFor(const ForStmt *stmt) {
  Value iterable = interpreter_.evaluate(stmt->iterable);
  if (iterable.isUnknown()) {
    interpreter_.names.assign(stmt->targets, Value::unknown(), stmt->iterable);
    return skipUnknown({stmt->body});
  }
  Flow flow = Flow::Next;
  Loop loop(run_, stmt->targets, stmt->iterable);
  loop.forEach(iterable, [&](Value item) {
    interpreter_.names.assign(stmt->targets, std::move(item), stmt->iterable);
    flow = run(stmt->body);
    return flow == Flow::Next;
  });
  return flow;
}

Flow Statements::runWith(const WithStmt *stmt) {
  size_t opened = interpreter_.tensors.openScopes(stmt);
  Flow flow = run(stmt->body);
  interpreter_.tensors.closeScopes(opened);
  return flow;
}

Flow Statements::skipUnknown(std::initializer_list<Block> blocks) {
  bool mayReturn = false;
  for (Block block : blocks) {
    std::vector<const NameExpr *> names;
    assignedNames(block, names);
    for (const NameExpr *name : names)
      if (name->binding == Binding::Slot && name->hops == 0)
        interpreter_.names.set(name, Value::unknown());
    mayReturn |= returns(block);
  }
  if (!mayReturn)
    return Flow::Next;
  returned_ = Value::unknown();
  return Flow::Return;
}

} // namespace lstmc::lnet
