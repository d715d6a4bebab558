#include "frontend/lnet/evaluation/Names.h"

#include <algorithm>
#include <numbers>

#include "frontend/lnet/evaluation/Collections.h"
#include "frontend/lnet/evaluation/Interpreter.h"
#include "frontend/lnet/evaluation/Resolve.h"

namespace lstmc::lnet {

Names::Names(Interpreter &interpreter) : interpreter_(interpreter), run_(interpreter.run) {}

/// The frame `hops` scopes further out.
static FrameObject *outward(FrameObject *frame, uint16_t hops) {
  for (; hops > 0; --hops)
    frame = &frame->parent.as<FrameObject>();
  return frame;
}

Value Names::read(const NameExpr *expr) {
  if (expr->binding != Binding::Slot) {
    Value value = outside(expr);
    return value.is(ValueKind::Unset) ? unknown(expr) : value;
  }
  FrameObject *frame = outward(run_.at.frame, expr->hops);
  const Value &value = frame->slots[expr->slot];
  if (!value.is(ValueKind::Unset))
    return value;
  // At file level a name that is set later may be a built-in one until then, as in Python.
  if (frame->parent.is(ValueKind::Unset))
    if (Value other = outside(expr); !other.is(ValueKind::Unset))
      return other;
  if (expr->name == "_")
    return Value::infer();
  return run_.error(ErrorCode::E0212, expr->span, "\"{}\" is read before it is set", expr->name);
}

void Names::set(const NameExpr *name, Value value) {
  outward(run_.at.frame, name->hops)->slots[name->slot] = std::move(value);
}

void Names::assign(const Expr *targets, Value value, const Expr *source) {
  if (targets->kind == ExprKind::Name)
    return set(static_cast<const NameExpr *>(targets), std::move(value));
  auto &wanted = static_cast<const SequenceExpr *>(targets)->elements;
  std::optional<std::vector<Value>> items;
  if (!value.isUnknown())
    items = elements(run_, value, source);
  if (items && items->size() != wanted.size()) {
    std::string maker = "..";
    if (source && source->kind == ExprKind::Call)
      maker = fmt::format("{}(..)", run_.at.module->file->text(
                                        static_cast<const CallExpr *>(source)->callee->span));
    run_.report(run_.makeError(ErrorCode::E0305, targets->span,
                               fmt::format("{} names for {} values", wanted.size(), items->size()),
                               unpackingHelp(*items, maker)));
    items.reset();
  }
  for (size_t i = 0; i < wanted.size(); ++i)
    assign(wanted[i], items ? std::move((*items)[i]) : Value::unknown(), source);
}

/// The location of an earlier def or import of a name.
static Span definedAt(const Stmt *stmt, uint32_t slot) {
  if (stmt->kind == StmtKind::Def)
    return static_cast<const DefStmt *>(stmt)->name->span;
  Span span = stmt->span;
  for (const ImportedName &imported : static_cast<const ImportStmt *>(stmt)->names)
    if (imported.target->slot == slot)
      span = imported.target->span;
  return span;
}

void Names::define(const NameExpr *name, const Stmt *stmt) {
  auto &defined = run_.at.frame->defined;
  if (defined.size() < run_.at.frame->slots.size())
    defined.resize(run_.at.frame->slots.size());
  const Stmt *&earlier = defined[name->slot];
  if (earlier && earlier != stmt)
    run_.error(ErrorCode::E0210, name->span, "\"{}\" is already defined at {}", name->name,
               run_.at.module->file->placeText(definedAt(earlier, name->slot).begin));
  earlier = stmt;
}

Value Names::outside(const NameExpr *expr) {
  if (expr->binding == Binding::Outside && expr->slot > 0)
    return outside_[expr->slot - 1];
  Value value = findOutside(expr->name);
  if (expr->binding == Binding::Outside && !value.is(ValueKind::Unset)) {
    outside_.push_back(value);
    expr->slot = uint32_t(outside_.size());
  }
  return value;
}

Value Names::findOutside(std::string_view name) {
  if (const Builtin *builtin = interpreter_.builtins.find(name))
    if (!builtin->internal || run_.at.module->internal)
      return Value::builtin(builtin);
  if (Value function = interpreter_.fromPrelude(name); !function.is(ValueKind::Unset))
    return function;
  if (const symbol::OpSignature *op = symbol::findOp(name))
    return Value::op(op);
  if (name == "pi")
    return Value::number(std::numbers::pi);
  return Value();
}

namespace {

/// Ops of MXNet that files use and this version lacks; refused by name.
bool isUnbuiltOp(std::string_view name) {
  constexpr std::string_view kOps[] = {
      "WarpCTC",  "Crop",    "ROIPooling", "BilinearSampler", "IdentityAttachKLSparseReg",
      "Bilinear", "FusedRNN"};
  return std::find(std::begin(kOps), std::end(kOps), name) != std::end(kOps);
}

} // namespace

Value Names::unknown(const NameExpr *expr) {
  if (expr->name == "_")
    return Value::infer();
  if (std::string_view help = moduleHelp(expr->name); !help.empty())
    return run_.report(run_.makeError(ErrorCode::E0201, expr->span,
                                      fmt::format("\"{}\" is a module of Python", expr->name),
                                      std::string(help)));
  if (isUnbuiltOp(expr->name))
    return run_.report(run_.makeError(ErrorCode::E0215, expr->span,
                                      fmt::format("{} is not built yet", expr->name),
                                      suggestion(NameKind::Function, expr->name, {})));
  return run_.unknownName(ErrorCode::E0201, expr->span,
                          fmt::format("no op or function is named \"{}\"", expr->name),
                          NameKind::Function, expr->name, functionNames());
}

Value Names::ofModule(const AttributeExpr *expr) {
  const Expr *root = expr->base;
  while (root->kind == ExprKind::Attribute)
    root = static_cast<const AttributeExpr *>(root)->base;
  if (root->kind != ExprKind::Name)
    return Value();
  auto *module = static_cast<const NameExpr *>(root);
  if (module->binding == Binding::Slot || !isModuleName(module->name) ||
      !outside(module).is(ValueKind::Unset))
    return Value();
  std::string help;
  if (findOutside(expr->name).is(ValueKind::Unset))
    help = suggestion(NameKind::Function, expr->name, functionNames());
  else
    help = fmt::format("write {} without \"{}\"", expr->name,
                       run_.at.module->file->text({root->span.begin, expr->nameSpan.begin}));
  if (help.empty())
    help = moduleHelp(module->name);
  return run_.report(run_.makeError(ErrorCode::E0201, root->span,
                                    fmt::format("\"{}\" is a module of Python", module->name),
                                    std::move(help)));
}

std::vector<std::string_view> Names::functionNames() const {
  std::vector<std::string_view> candidates;
  for (const symbol::OpSignature &op : symbol::allOps()) {
    candidates.push_back(op.name);
    candidates.insert(candidates.end(), op.aliases.begin(), op.aliases.end());
  }
  std::ranges::copy(interpreter_.preludeNames(), std::back_inserter(candidates));
  for (const Builtin &builtin : interpreter_.builtins.all())
    if (!builtin.internal)
      candidates.push_back(builtin.name);
  for (const FrameObject *frame = run_.at.frame; frame;
       frame = frame->parent.is(ValueKind::Frame) ? &frame->parent.as<FrameObject>() : nullptr)
    std::ranges::copy(frame->scope->names, std::back_inserter(candidates));
  std::erase_if(candidates, [](std::string_view name) { return name.starts_with('_'); });
  return candidates;
}

} // namespace lstmc::lnet
