#include "frontend/lnet/evaluation/Calls.h"

#include "frontend/lnet/evaluation/Collections.h"
#include "frontend/lnet/evaluation/Interpreter.h"
#include "frontend/lnet/evaluation/NumberFunctions.h"
#include "frontend/lnet/evaluation/Resolve.h"
#include "frontend/lnet/text/Stack.h"

namespace lstmc::lnet {

Calls::Calls(Interpreter &interpreter) : interpreter_(interpreter), run_(interpreter.run) {}

bool Calls::evaluateArguments(const CallExpr *expr, Arguments &arguments) {
  arguments.call = expr;
  bool known = true;
  for (const Argument &argument : expr->arguments) {
    Value value = interpreter_.evaluate(argument.value);
    if (argument.star) {
      std::optional<std::vector<Value>> items;
      if (!value.isUnknown())
        items = elements(run_, value, argument.value);
      if (!items) {
        arguments.unknown = true;
        known = false;
        continue;
      }
      for (Value &item : *items) {
        arguments.positional.push_back(std::move(item));
        arguments.places.push_back(argument.value);
      }
    } else if (argument.name.empty()) {
      arguments.positional.push_back(std::move(value));
      arguments.places.push_back(argument.value);
    } else {
      arguments.named.push_back({&argument, std::move(value)});
    }
  }
  return known;
}

Value Calls::call(const CallExpr *expr) {
  if (expr->callee->kind == ExprKind::Attribute)
    return callMethod(expr, static_cast<const AttributeExpr *>(expr->callee));
  Value callee = interpreter_.evaluate(expr->callee);
  Arguments arguments;
  evaluateArguments(expr, arguments);
  if (run_.aborted())
    return Value::unknown();
  switch (callee.kind()) {
  case ValueKind::Unknown:
    return callee;
  case ValueKind::Function:
    return callFunction(callee, arguments);
  case ValueKind::Builtin:
    return callee.builtin().run(arguments);
  case ValueKind::Op:
    if (std::optional<Value> number = numberOf(run_, callee.op(), arguments))
      return *number;
    return interpreter_.tensors.call(callee.op(), arguments);
  default:
    return notCallable(expr, callee);
  }
}

/// A layer that is created first and called later, or a function whose name the file has redefined.
Value Calls::notCallable(const CallExpr *expr, const Value &callee) {
  std::string help;
  if (expr->callee->kind == ExprKind::Name) {
    std::string_view name = static_cast<const NameExpr *>(expr->callee)->name;
    if (interpreter_.builtins.find(name) || symbol::findOp(name))
      help = fmt::format("\"{}\" was set in this file; give that value another name", name);
  } else if (expr->callee->kind == ExprKind::Call && callee.is(ValueKind::Tensor)) {
    help = "a layer is one call: the input comes first, as in FullyConnected(x, num_hidden=10)";
  }
  return run_.report(run_.makeError(ErrorCode::E0317, calleeSpan(expr),
                                    fmt::format("{} cannot be called", kindName(callee.kind())),
                                    std::move(help)));
}

Value Calls::callMethod(const CallExpr *expr, const AttributeExpr *callee) {
  Value base = interpreter_.names.ofModule(callee);
  if (base.is(ValueKind::Unset))
    base = interpreter_.evaluate(callee->base);
  Arguments arguments;
  evaluateArguments(expr, arguments);
  if (base.isUnknown() || run_.aborted() || arguments.unknown)
    return Value::unknown();
  if (base.is(ValueKind::Tensor))
    return interpreter_.tensors.method(base, callee, arguments);
  return callMethodOf(run_, base, callee, arguments, expr);
}

//===---- functions of the language ---------------------------------------------------------===//

namespace {

/// `LSTM(num_hidden=256)`: what messages call nodes that a layer made.
std::string layerText(std::string_view name, const std::vector<Value> &values,
                      const std::vector<std::string_view> &names) {
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] == "num_hidden" && values[i].is(ValueKind::Integer))
      return fmt::format("{}(num_hidden={})", name, values[i].integer());
  return std::string(name);
}

std::vector<std::string_view> parameterNames(const FunctionObject &function) {
  std::vector<std::string_view> names;
  names.reserve(function.defaults.size());
  for (size_t i = 0; i < function.defaults.size(); ++i)
    names.push_back(function.def ? function.def->parameters[i].name->name
                                 : function.lambda->parameters[i]->name);
  return names;
}

const Scope &scopeOf(const FunctionObject &function) {
  return function.def ? *function.def->scope : *function.lambda->scope;
}

} // namespace

Value Calls::callFunction(const Value &callee, Arguments &arguments) {
  auto &function = callee.as<FunctionObject>();
  Span span = calleeSpan(arguments.call);
  if (arguments.unknown)
    return Value::unknown();
  std::vector<std::string_view> names = parameterNames(function);
  std::vector<Value> values;
  if (!bindParameters(function, arguments, names, values) || !mayRun(function, span))
    return Value::unknown();
  Value frame = run_.newFrame(function.closure, scopeOf(function));
  bool outermostLayer = function.module->internal && !run_.at.module->internal;
  if (outermostLayer && !run_.mayDraw(function.name(), span))
    return Value::unknown();
  std::string shown = outermostLayer ? layerText(function.name(), values, names) : std::string();
  std::ranges::move(values, frame.as<FrameObject>().slots.begin());
  if (outermostLayer)
    std::swap(run_.at.layerShown, shown);
  Value result = runBody(function, frame.as<FrameObject>(), arguments.call);
  if (outermostLayer)
    std::swap(run_.at.layerShown, shown);
  return result;
}

bool Calls::bindParameters(FunctionObject &function, Arguments &arguments,
                           const std::vector<std::string_view> &names, std::vector<Value> &values) {
  Span span = calleeSpan(arguments.call);
  if (!bindArguments(run_, function.name(), function.module->internal ? "attribute" : "parameter",
                     arguments, names, values))
    return false;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!values[i].is(ValueKind::Unset)) {
      if (function.types[i])
        interpreter_.tensors.checkType(values[i], function.types[i], names[i], span);
      continue;
    }
    if (function.defaults[i].is(ValueKind::Unset)) {
      run_.error(ErrorCode::E0203, span, "{} needs {}", function.name(), names[i]);
      return false;
    }
    values[i] = function.defaults[i];
  }
  return true;
}

bool Calls::mayRun(const FunctionObject &function, Span span) {
  if (function.running) {
    run_.error(ErrorCode::E0302, span, "\"{}\" is already running, called at {}", function.name(),
               function.runningSince);
    return false;
  }
  if (run_.at.callDepth < run_.limits().depth && !stackIsShort())
    return true;
  run_.limitError(ErrorCode::E0313, span,
                  fmt::format("calls nested {} deep, the limit is {}", run_.at.callDepth + 1,
                              run_.limits().depth),
                  "depth");
  return false;
}

/// The owner to name in messages for lists that this function creates.
const Owner *Calls::ownerOf(const FunctionObject &function) {
  const void *key = function.def ? static_cast<const void *>(function.def) : function.lambda;
  Owner &owner = owners_[key];
  if (owner.text.empty()) {
    Span at = function.def ? function.def->name->span : function.lambda->span;
    owner.text =
        fmt::format("{}(..), {}", function.name(), function.module->file->placeText(at.begin));
  }
  return &owner;
}

Value Calls::runBody(FunctionObject &function, FrameObject &frame, const CallExpr *call) {
  Position &at = run_.at;
  function.running = true;
  function.runningSince = call ? at.module->file->placeText(calleeSpan(call).begin) : "";
  at.calls.push_back(
      {function.name(), at.module, call, at.loops.size(), function.module->internal, {}});
  ++at.callDepth;
  Module *callerModule = std::exchange(at.module, function.module);
  FrameObject *callerFrame = std::exchange(at.frame, &frame);
  const Owner *callerOwner = std::exchange(at.owner, ownerOf(function));
  int64_t nodesBefore = run_.nodes();
  const uint64_t errorsBefore = run_.problems().errors();

  Value result = Value::none();
  if (function.lambda) {
    result = interpreter_.evaluate(function.lambda->body);
  } else if (interpreter_.statements.run(function.def->body) == Statements::Flow::Return) {
    result = interpreter_.statements.takeReturned();
    if (function.result)
      interpreter_.tensors.checkType(result, function.result, function.name(),
                                     function.def->name->span);
  }
  // A function that was in error has no value of which more could be said.
  if (run_.aborted() || (result.is(ValueKind::None) && run_.problems().errors() > errorsBefore))
    result = Value::unknown();

  at.owner = callerOwner;
  at.frame = callerFrame;
  at.module = callerModule;
  --at.callDepth;
  at.calls.pop_back();
  function.running = false;
  run_.endCall(function.name(), call, nodesBefore);
  return result;
}

} // namespace lstmc::lnet
