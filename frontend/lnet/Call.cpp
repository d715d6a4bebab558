#include "frontend/lnet/Evaluator.h"
#include "frontend/lnet/text/Stack.h"
#include "frontend/symbol/Suggest.h"

namespace lstmc::lnet {

/// What messages about a call point at: the name that is called.
Span Evaluator::calleeSpan(const CallExpr *call) const {
  const Expr *callee = call->callee;
  return callee->kind == ExprKind::Attribute ? static_cast<const AttributeExpr *>(callee)->nameSpan
                                             : callee->span;
}

bool Evaluator::evaluateArguments(const CallExpr *expr, Arguments &arguments) {
  arguments.call = expr;
  bool known = true;
  for (const Argument &argument : expr->arguments) {
    Value value = evaluate(argument.value);
    if (argument.star) {
      std::optional<std::vector<Value>> items;
      if (value.isUnknown() || !(items = elements(value, argument.value))) {
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

Value Evaluator::evaluateCall(const CallExpr *expr) {
  if (expr->callee->kind == ExprKind::Attribute)
    return callMethod(expr, static_cast<const AttributeExpr *>(expr->callee));
  Value callee = evaluate(expr->callee);
  Arguments arguments;
  evaluateArguments(expr, arguments);
  if (aborted_)
    return Value::unknown();
  switch (callee.kind()) {
  case ValueKind::Unknown:
    return callee;
  case ValueKind::Function:
    return callFunction(callee, arguments);
  case ValueKind::Builtin:
    return (this->*callee.builtin().run)(arguments);
  case ValueKind::Op:
    return callOp(callee.op(), arguments);
  default:
    return error(ErrorCode::E0317, calleeSpan(expr), "{} cannot be called",
                 kindName(callee.kind()));
  }
}

Value Evaluator::callMethod(const CallExpr *expr, const AttributeExpr *callee) {
  Value base = evaluate(callee->base);
  Arguments arguments;
  evaluateArguments(expr, arguments);
  if (base.isUnknown() || aborted_ || arguments.unknown)
    return Value::unknown();
  std::vector<Value> values;
  std::vector<const Expr *> places;
  auto refuse = [&]() -> Value {
    return error(ErrorCode::E0317, callee->nameSpan, "{} has no method \"{}\"",
                 kindName(base.kind()), callee->name);
  };
  if (base.is(ValueKind::List)) {
    bool append = callee->name == "append";
    if (!append && callee->name != "extend")
      return refuse();
    if (!bindBuiltin(callee->name, arguments, {{append ? "item" : "items", true}}, values, &places))
      return Value::unknown();
    auto &list = base.as<SequenceObject>();
    if (list.owner != frame_->run)
      return error(ErrorCode::E0310, callee->base->span, "{} belongs to {}",
                   callee->base->kind == ExprKind::Name
                       ? fmt::format("\"{}\"", static_cast<const NameExpr *>(callee->base)->name)
                       : "the list",
                   list.maker ? list.maker->text : "the file");
    std::vector<Value> more;
    if (append) {
      more.push_back(values[0]);
    } else {
      if (values[0].isUnknown())
        return Value::unknown();
      auto items = elements(values[0], places[0]);
      if (!items)
        return Value::unknown();
      more = std::move(*items);
    }
    if (list.items.size() + more.size() > options_.limits.list)
      return limitError(ErrorCode::E0314, callee->nameSpan,
                        fmt::format("list of {} elements, the limit is {}",
                                    grouped(int64_t(list.items.size() + more.size())),
                                    grouped(int64_t(options_.limits.list))),
                        "list");
    if (!stepMany(more.size(), callee->nameSpan))
      return Value::unknown();
    for (Value &item : more)
      list.items.push_back(std::move(item));
    return Value::none();
  }
  if (base.is(ValueKind::Dict)) {
    auto &dict = base.as<DictObject>();
    if (callee->name == "get") {
      if (!bindBuiltin("get", arguments, {{"key", true}, {"default"}}, values, &places) ||
          values[0].isUnknown())
        return Value::unknown();
      std::optional<size_t> hash = hashOf(values[0]);
      if (!hash)
        return error(ErrorCode::E0317, places[0]->span, "{} can be no key of a dict",
                     kindName(values[0].kind()));
      auto [from, to] = dict.index.equal_range(*hash);
      for (auto at = from; at != to; ++at)
        if (equal(dict.entries[at->second].first, values[0]).value_or(false))
          return dict.entries[at->second].second;
      return values[1].is(ValueKind::Unset) ? Value::none() : values[1];
    }
    bool keys = callee->name == "keys", items = callee->name == "items";
    if (!keys && !items && callee->name != "values")
      return refuse();
    if (!bindBuiltin(callee->name, arguments, {}, values))
      return Value::unknown();
    std::vector<Value> result;
    for (auto &[key, value] : dict.entries)
      result.push_back(keys    ? key
                       : items ? makeSequence(ValueKind::Tuple, {key, value}, expr->span)
                               : value);
    return makeSequence(ValueKind::List, std::move(result), expr->span);
  }
  return refuse();
}

bool Evaluator::bind(std::string_view callee, std::string_view what, Arguments &arguments,
                     const std::vector<std::string_view> &names, std::vector<Value> &values,
                     std::vector<const Expr *> *places) {
  values.assign(names.size(), Value());
  if (places)
    places->assign(names.size(), nullptr);
  bool good = true;
  if (arguments.positional.size() > names.size()) {
    error(ErrorCode::E0205, arguments.places[names.size()]->span, "{} takes {} argument{}, got {}",
          callee, names.size(), names.size() == 1 ? "" : "s", arguments.positional.size());
    good = false;
  }
  for (size_t i = 0; i < arguments.positional.size() && i < names.size(); ++i) {
    values[i] = arguments.positional[i];
    if (places)
      (*places)[i] = arguments.places[i];
  }
  for (auto &named : arguments.named) {
    auto at = std::find(names.begin(), names.end(), named.argument->name);
    if (at == names.end()) {
      report(makeError(ErrorCode::E0202, named.argument->nameSpan,
                       fmt::format("{} has no {} \"{}\"", callee, what, named.argument->name),
                       didYouMean(named.argument->name, names)));
      good = false;
      continue;
    }
    size_t i = at - names.begin();
    if (!values[i].is(ValueKind::Unset)) {
      error(ErrorCode::E0202, named.argument->nameSpan, "{} has {} twice", callee,
            named.argument->name);
      good = false;
      continue;
    }
    values[i] = named.value;
    if (places)
      (*places)[i] = named.argument->value;
  }
  return good;
}

bool Evaluator::bindBuiltin(std::string_view callee, Arguments &arguments,
                            std::initializer_list<BuiltinParameter> parameters,
                            std::vector<Value> &values, std::vector<const Expr *> *places) {
  if (arguments.unknown)
    return false;
  std::vector<std::string_view> names;
  for (const BuiltinParameter &parameter : parameters)
    names.push_back(parameter.name);
  if (!bind(callee, "attribute", arguments, names, values, places))
    return false;
  size_t i = 0;
  for (const BuiltinParameter &parameter : parameters)
    if (values[i++].is(ValueKind::Unset) && parameter.required) {
      error(ErrorCode::E0203, calleeSpan(arguments.call), "{} needs {}", callee, parameter.name);
      return false;
    }
  return true;
}

namespace {
/// `LSTM(num_hidden=256)`: what messages call nodes that a layer made.
std::string layerText(std::string_view name, const std::vector<Value> &values,
                      const std::vector<std::string_view> &names) {
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] == "num_hidden" && values[i].is(ValueKind::Integer))
      return fmt::format("{}(num_hidden={})", name, values[i].integer());
  return std::string(name);
}
} // namespace

Value Evaluator::callFunction(const Value &callee, Arguments &arguments) {
  auto &function = callee.as<FunctionObject>();
  Span span = calleeSpan(arguments.call);
  if (arguments.unknown)
    return Value::unknown();
  std::vector<std::string_view> names;
  size_t parameters = function.defaults.size();
  names.reserve(parameters);
  for (size_t i = 0; i < parameters; ++i)
    names.push_back(function.def ? function.def->parameters[i].name->name
                                 : function.lambda->parameters[i]->name);
  std::vector<Value> values;
  if (!bind(function.name(), function.module->internal ? "attribute" : "parameter", arguments,
            names, values))
    return Value::unknown();
  for (size_t i = 0; i < parameters; ++i) {
    if (!values[i].is(ValueKind::Unset)) {
      if (i < function.types.size() && function.types[i])
        checkType(values[i], function.types[i], names[i], span);
      continue;
    }
    if (function.defaults[i].is(ValueKind::Unset))
      return error(ErrorCode::E0203, span, "{} needs {}", function.name(), names[i]);
    values[i] = function.defaults[i];
  }
  if (function.running)
    return error(ErrorCode::E0302, span, "\"{}\" is already running, called at {}", function.name(),
                 function.runningSince);
  if (callDepth_ >= options_.limits.depth || stackIsShort())
    return limitError(
        ErrorCode::E0313, span,
        fmt::format("calls nested {} deep, the limit is {}", callDepth_ + 1, options_.limits.depth),
        "depth");
  Value frame = heap_.make<FrameObject>(
      function.closure, (function.def ? function.def->scope : function.lambda->scope)->names.size(),
      ++runs_);
  bool outermostLayer = function.module->internal && !module_->internal;
  if (outermostLayer && !mayDraw(function.name(), span))
    return Value::unknown();
  std::string shown = outermostLayer ? layerText(function.name(), values, names) : std::string();
  for (size_t i = 0; i < parameters; ++i)
    frame.as<FrameObject>().slots[i] = std::move(values[i]);
  if (outermostLayer)
    std::swap(layerShown_, shown);
  Value hold = callee;
  Value result = runFunction(function, frame.as<FrameObject>(), arguments.call);
  if (outermostLayer)
    std::swap(layerShown_, shown);
  return result;
}

Value Evaluator::runFunction(FunctionObject &function, FrameObject &frame, const CallExpr *call) {
  Module *callerModule = module_;
  FrameObject *callerFrame = frame_;
  const Owner *callerOwner = owner_;
  int64_t nodesBefore = nodes_;
  function.running = true;
  function.runningSince = call ? callerModule->file->placeText(calleeSpan(call).begin) : "";
  calls_.push_back(
      {function.name(), callerModule, call, loops_.size(), function.module->internal, {}});
  ++callDepth_;
  module_ = function.module;
  frame_ = &frame;
  const void *key = function.def ? static_cast<const void *>(function.def) : function.lambda;
  Owner &owner = owners_[key];
  if (owner.text.empty()) {
    Span at = function.def ? function.def->name->span : function.lambda->span;
    owner.text = fmt::format("{}(..), {}", function.name(), module_->file->placeText(at.begin));
  }
  owner_ = &owner;

  Value result = Value::none();
  if (function.lambda) {
    result = evaluate(function.lambda->body);
  } else if (run(function.def->body) == Flow::Return) {
    result = std::move(returned_);
    returned_ = Value();
    if (function.result)
      checkType(result, function.result, function.name(), function.def->name->span);
  }
  if (aborted_)
    result = Value::unknown();

  owner_ = callerOwner;
  frame_ = callerFrame;
  module_ = callerModule;
  --callDepth_;
  calls_.pop_back();
  function.running = false;
  if (!loops_.empty() && loops_.back().callDepth == calls_.size() && call &&
      nodes_ - nodesBefore > loops_.back().costly.nodes)
    loops_.back().costly = {call, function.name(), nodes_ - nodesBefore};
  return result;
}

} // namespace lstmc::lnet
