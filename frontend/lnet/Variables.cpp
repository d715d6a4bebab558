// Variable(..), initialisers, schedules, and what layers.lnet needs beyond the language.
#include "executor/base/LowerCase.h"
#include "frontend/lnet/Evaluator.h"
#include "frontend/symbol/Suggest.h"

namespace lstmc::lnet {

/// A tuple of extents, `_` or None where one is to infer; an integer stands for one extent.
std::optional<symbol::Shape> Evaluator::shapeArgument(const Value &value, const Expr *place) {
  std::vector<symbol::Dim> dims;
  auto add = [&](const Value &item) {
    if (item.is(ValueKind::Infer) || item.is(ValueKind::None)) {
      dims.push_back({});
      return true;
    }
    if (item.isUnknown())
      return false;
    if (!item.is(ValueKind::Integer)) {
      error(ErrorCode::E0204, place->span, "shape is a tuple of integers, got {}", reprOf(value));
      return false;
    }
    if (item.integer() < 1) {
      error(ErrorCode::E0206, place->span, "dimension {} (write _ for one to infer)",
            item.integer());
      return false;
    }
    dims.push_back({item.integer(), item.dim() ? dims_[item.dim() - 1] : std::string()});
    return true;
  };
  if (!value.isSequence()) {
    if (!add(value))
      return std::nullopt;
  } else {
    for (const Value &item : value.items())
      if (!add(item))
        return std::nullopt;
  }
  if (dims.size() > options_.limits.rank) {
    report(makeError(
        ErrorCode::E0319, place->span,
        fmt::format("tensor of {} dimensions, the limit is {}", dims.size(), options_.limits.rank),
        "--limit rank=N changes the limit"));
    return std::nullopt;
  }
  return symbol::Shape(std::move(dims));
}

std::optional<symbol::Initialiser> Evaluator::initialiserOf(const Value &value, const Expr *place) {
  if (value.is(ValueKind::Initialiser))
    return value.as<InitialiserObject>().init;
  if (value.is(ValueKind::String)) {
    // MXNet's registry names stand for the initialiser without arguments.
    constexpr std::pair<std::string_view, std::string_view> kNames[] = {
        {"uniform", "uniform"},
        {"normal", "normal"},
        {"xavier", "xavier"},
        {"msraprelu", "msraprelu"},
        {"orthogonal", "orthogonal"},
        {"zero", "zero"},
        {"zeros", "zero"},
        {"one", "one"},
        {"ones", "one"},
        {"lstmbias", "lstmbias"}};
    for (auto &[written, name] : kNames)
      if (lowerCase(value.string()) == written)
        return symbol::Initialiser{std::string(name), {}, {}, {}};
  }
  if (!value.isUnknown())
    error(ErrorCode::E0204, place->span, "init is an initialiser, got {}", reprOf(value));
  return std::nullopt;
}

Value Evaluator::builtinVariable(Arguments &arguments) {
  std::vector<Value> values;
  std::vector<const Expr *> places;
  Span span = calleeSpan(arguments.call);
  if (!bindBuiltin("Variable", arguments,
                   {{"name", true}, {"shape"}, {"dtype"}, {"init"}, {"lr_mult"}, {"wd_mult"}},
                   values, &places))
    return Value::unknown();
  auto given = [&](size_t i) {
    return !values[i].is(ValueKind::Unset) && !values[i].is(ValueKind::None);
  };
  for (const Value &value : values)
    if (value.isUnknown())
      return value;
  if (!values[0].is(ValueKind::String))
    return error(ErrorCode::E0204, places[0]->span, "name is a string, got {}", reprOf(values[0]));
  const std::string &name = values[0].string();
  if (name.empty())
    return error(ErrorCode::E0204, places[0]->span, "name is a string that is not empty, got \"\"");
  if (name.size() > options_.limits.name)
    return limitError(
        ErrorCode::E0315, places[0]->span,
        fmt::format("name of {} bytes, the limit is {}", name.size(), options_.limits.name),
        "name");
  if (!mayDraw(module_->internal && !layerShown_.empty() ? layerShown_ : "Variable", span))
    return Value::unknown();
  symbol::VariableOptions options;
  options.shareIsMeant = !module_->internal;
  if (given(1)) {
    std::optional<symbol::Shape> shape = shapeArgument(values[1], places[1]);
    if (!shape)
      return Value::unknown();
    options.shape = std::move(*shape);
  }
  if (given(2)) {
    options.dtype = values[2].is(ValueKind::String) ? parseDType(values[2].string()) : std::nullopt;
    if (!options.dtype)
      return error(ErrorCode::E0204, places[2]->span, "dtype is a dtype, got {}",
                   reprOf(values[2]));
  }
  if (given(3)) {
    std::optional<symbol::Initialiser> init = initialiserOf(values[3], places[3]);
    if (!init)
      return Value::unknown();
    options.init = std::move(*init);
  }
  for (size_t i : {size_t(4), size_t(5)}) {
    if (!given(i))
      continue;
    if (!values[i].isNumber())
      return error(ErrorCode::E0204, places[i]->span, "{} is a number, got {}",
                   i == 4 ? "lr_mult" : "wd_mult", reprOf(values[i]));
    (i == 4 ? options.lrMult : options.wdMult) = values[i].number();
  }
  Checked<symbol::Symbol> made = graph_->variable(name, std::move(options), place(span));
  reportGraph(std::move(made.diagnostics()));
  if (!made.ok() || !checkNodes(span))
    return Value::unknown();
  return wrap(*made);
}

/// An initialiser whose arguments are numbers, or the words that MXNet has for them.
Value Evaluator::simpleInitialiser(Arguments &arguments, std::string_view shown,
                                   std::string_view name,
                                   std::initializer_list<std::string_view> parameters,
                                   size_t required) {
  std::vector<std::string_view> names(parameters);
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (arguments.unknown || !bind(shown, "attribute", arguments, names, values, &places))
    return Value::unknown();
  symbol::Initialiser init;
  init.name = name;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].is(ValueKind::Unset)) {
      if (i < required)
        return error(ErrorCode::E0203, calleeSpan(arguments.call), "{} needs {}", shown, names[i]);
      continue;
    }
    if (values[i].isUnknown())
      return values[i];
    bool word = names[i] == "rnd_type" || names[i] == "rand_type" || names[i] == "factor_type";
    if (!word) {
      if (!values[i].isNumber())
        return error(ErrorCode::E0204, places[i]->span, "{} is a number, got {}", names[i],
                     reprOf(values[i]));
      init.arguments.push_back({std::string(names[i]), values[i].number()});
      continue;
    }
    std::vector<std::string_view> choices{"avg", "in", "out"};
    if (names[i] == "rnd_type")
      choices = {"uniform", "gaussian"};
    else if (names[i] == "rand_type")
      choices = {"uniform", "normal"};
    if (!values[i].is(ValueKind::String) ||
        std::find(choices.begin(), choices.end(), values[i].string()) == choices.end())
      return error(ErrorCode::E0204, places[i]->span, "{} is one of {}, got {}", names[i],
                   fmt::join(choices, ", "), reprOf(values[i]));
    init.arguments.push_back({std::string(names[i]), values[i].string()});
  }
  return heap_.make<InitialiserObject>(std::move(init));
}

Value Evaluator::builtinUniform(Arguments &a) {
  return simpleInitialiser(a, "Uniform", "uniform", {"scale"}, 0);
}
Value Evaluator::builtinNormal(Arguments &a) {
  return simpleInitialiser(a, "Normal", "normal", {"sigma"}, 0);
}
Value Evaluator::builtinXavier(Arguments &a) {
  return simpleInitialiser(a, "Xavier", "xavier", {"rnd_type", "factor_type", "magnitude"}, 0);
}
Value Evaluator::builtinMsraPrelu(Arguments &a) {
  return simpleInitialiser(a, "MSRAPrelu", "msraprelu", {"factor_type", "slope"}, 0);
}
Value Evaluator::builtinOrthogonal(Arguments &a) {
  return simpleInitialiser(a, "Orthogonal", "orthogonal", {"scale", "rand_type"}, 0);
}
Value Evaluator::builtinConstant(Arguments &a) {
  return simpleInitialiser(a, "Constant", "constant", {"value"}, 1);
}
Value Evaluator::builtinZero(Arguments &a) { return simpleInitialiser(a, "Zero", "zero", {}, 0); }
Value Evaluator::builtinOne(Arguments &a) { return simpleInitialiser(a, "One", "one", {}, 0); }
Value Evaluator::builtinLstmBias(Arguments &a) {
  return simpleInitialiser(a, "LSTMBias", "lstmbias", {"forget_bias"}, 0);
}

Value Evaluator::builtinMixed(Arguments &arguments) {
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (!bindBuiltin("Mixed", arguments, {{"patterns", true}, {"initializers", true}}, values,
                   &places) ||
      values[0].isUnknown() || values[1].isUnknown())
    return Value::unknown();
  for (size_t i : {size_t(0), size_t(1)})
    if (!values[i].isSequence())
      return error(ErrorCode::E0204, places[i]->span, "{} is a list, got {}",
                   i ? "initializers" : "patterns", reprOf(values[i]));
  if (values[0].items().size() != values[1].items().size())
    return error(ErrorCode::E0204, places[1]->span, "Mixed has {} patterns and {} initializers",
                 values[0].items().size(), values[1].items().size());
  symbol::Initialiser init;
  init.name = "mixed";
  for (const Value &pattern : values[0].items()) {
    if (!pattern.is(ValueKind::String))
      return error(ErrorCode::E0204, places[0]->span, "a pattern is a string, got {}",
                   reprOf(pattern));
    init.patterns.push_back(pattern.string());
  }
  for (const Value &each : values[1].items()) {
    std::optional<symbol::Initialiser> inner = initialiserOf(each, places[1]);
    if (!inner)
      return Value::unknown();
    init.initialisers.push_back(std::move(*inner));
  }
  return heap_.make<InitialiserObject>(std::move(init));
}

Value Evaluator::builtinLoad(Arguments &arguments) {
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (!bindBuiltin("Load", arguments, {{"param", true}, {"default_init"}}, values, &places) ||
      values[0].isUnknown() || values[1].isUnknown())
    return Value::unknown();
  if (!values[0].is(ValueKind::String))
    return error(ErrorCode::E0204, places[0]->span, "param is the name of a file, got {}",
                 reprOf(values[0]));
  symbol::Initialiser init;
  init.name = "load";
  init.arguments.push_back({"param", values[0].string()});
  if (!values[1].is(ValueKind::Unset) && !values[1].is(ValueKind::None)) {
    std::optional<symbol::Initialiser> inner = initialiserOf(values[1], places[1]);
    if (!inner)
      return Value::unknown();
    init.initialisers.push_back(std::move(*inner));
  }
  return heap_.make<InitialiserObject>(std::move(init));
}

/// What the argument of a schedule is in a file; nothing, once reported, where it is something
/// else.
std::optional<symbol::AttributeValue> Evaluator::scheduleArgument(const ScheduleArgument &argument,
                                                                  const Value &value,
                                                                  const Expr *place) {
  switch (argument.kind) {
  case ArgumentKind::Word:
    if (value.is(ValueKind::String) && (value.string() == "linear" || value.string() == "constant"))
      return value.string();
    error(ErrorCode::E0204, place->span, "{} is one of linear, constant, got {}", argument.name,
          reprOf(value));
    return std::nullopt;
  case ArgumentKind::Counts: {
    symbol::Tuple counts;
    bool good = value.isSequence() && !value.items().empty();
    if (good)
      for (const Value &item : value.items()) {
        good &= item.is(ValueKind::Integer) && (counts.empty() || *counts.back() < item.integer());
        if (good)
          counts.push_back(item.integer());
      }
    if (good)
      return counts;
    error(ErrorCode::E0204, place->span, "{} is a list of growing integers, got {}", argument.name,
          reprOf(value));
    return std::nullopt;
  }
  case ArgumentKind::Count:
    if (value.is(ValueKind::Integer))
      return value.integer();
    error(ErrorCode::E0204, place->span, "{} is an integer, got {}", argument.name, reprOf(value));
    return std::nullopt;
  case ArgumentKind::Number:
    if (value.isNumber())
      return value.number();
    error(ErrorCode::E0204, place->span, "{} is a number, got {}", argument.name, reprOf(value));
    return std::nullopt;
  }
  return std::nullopt;
}

Value Evaluator::schedule(Arguments &arguments, const ScheduleRow &row) {
  std::vector<ScheduleArgument> all;
  for (const ScheduleArgument &argument : row.arguments)
    if (!argument.name.empty())
      all.push_back(argument);
  all.push_back({"base_lr"});
  all.insert(all.end(), std::begin(kWarmUp), std::end(kWarmUp));
  std::vector<std::string_view> names;
  for (const ScheduleArgument &argument : all)
    names.push_back(argument.name);
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (arguments.unknown || !bind(row.shown, "attribute", arguments, names, values, &places))
    return Value::unknown();
  Value made = heap_.make<SchedulerObject>();
  auto &scheduler = made.as<SchedulerObject>();
  scheduler.name = row.name;
  for (size_t i = 0; i < all.size(); ++i) {
    const Value &value = values[i];
    if (value.is(ValueKind::Unset) && all[i].required)
      return error(ErrorCode::E0203, calleeSpan(arguments.call), "{} needs {}", row.shown,
                   names[i]);
    if (value.is(ValueKind::Unset) || value.is(ValueKind::None))
      continue;
    if (value.isUnknown())
      return value;
    std::optional<symbol::AttributeValue> taken = scheduleArgument(all[i], value, places[i]);
    if (!taken)
      return Value::unknown();
    scheduler.arguments.push_back({std::string(names[i]), std::move(*taken)});
  }
  return made;
}

/// _layer_name(name, hint): the name of a layer's call as MXNet would give it, name scopes
/// included.
Value Evaluator::builtinLayerName(Arguments &arguments) {
  std::vector<Value> values;
  Span span = calleeSpan(arguments.call);
  if (!bindBuiltin("_layer_name", arguments, {{"name", true}, {"hint", true}}, values) ||
      values[0].isUnknown())
    return Value::unknown();
  if (!mayDraw(layerShown_, span))
    return Value::unknown();
  std::string name;
  for (const std::string &scope : nameScopes_)
    name += scope + "_";
  if (values[0].is(ValueKind::None)) {
    const std::string &hint = values[1].string();
    name += hint + std::to_string(layerCounts_[hint]++);
  } else if (values[0].is(ValueKind::String)) {
    name += values[0].string();
  } else {
    return error(ErrorCode::E0204, span, "name is a string, got {}", reprOf(values[0]));
  }
  return makeString(std::move(name), span);
}

/// _begin_state(name, shape, dtype): a state before the first step; `dtype` may be a tensor that
/// has it. Known to all files, so that any graph can be written out (Emit.h).
Value Evaluator::builtinBeginState(Arguments &arguments) {
  std::vector<Value> values;
  std::vector<const Expr *> places;
  Span span = calleeSpan(arguments.call);
  if (!bindBuiltin("_begin_state", arguments, {{"name", true}, {"shape", true}, {"dtype", true}},
                   values, &places))
    return Value::unknown();
  for (const Value &value : values)
    if (value.isUnknown())
      return value;
  std::optional<symbol::Shape> shape = shapeArgument(values[1], places[1]);
  if (!shape || !mayDraw(layerShown_, span))
    return Value::unknown();
  std::optional<DType> dtype;
  if (values[2].is(ValueKind::Tensor))
    dtype = values[2].as<TensorObject>().symbol.dtype().value_or(DType::F32);
  else if (values[2].is(ValueKind::String))
    dtype = parseDType(values[2].string());
  if (!dtype)
    return error(ErrorCode::E0204, places[2]->span, "dtype is a dtype, got {}", reprOf(values[2]));
  if (!values[0].is(ValueKind::String) || values[0].string().empty())
    return error(ErrorCode::E0204, places[0]->span, "name is a string that is not empty, got {}",
                 reprOf(values[0]));
  Checked<symbol::Symbol> made =
      graph_->beginState(values[0].string(), *dtype, std::move(*shape), place(span));
  reportGraph(std::move(made.diagnostics()));
  if (!made.ok() || !checkNodes(span))
    return Value::unknown();
  return wrap(*made);
}

/// _expect(what, value, kind): E0204 at the user's call unless the value is of that kind. False
/// after an error.
Value Evaluator::builtinExpect(Arguments &arguments) {
  std::vector<Value> values;
  Span span = calleeSpan(arguments.call);
  if (!bindBuiltin("_expect", arguments, {{"what", true}, {"value", true}, {"kind", true}},
                   values) ||
      values[1].isUnknown())
    return Value::unknown();
  const std::string &kind = values[2].string();
  const Value &value = values[1];
  bool good = kind == "a tensor"     ? value.is(ValueKind::Tensor)
              : kind == "an integer" ? value.is(ValueKind::Integer)
              : kind == "a number"   ? value.isNumber()
              : kind == "a bool"     ? value.is(ValueKind::Bool)
              : kind == "a tensor or None"
                  ? value.is(ValueKind::Tensor) || value.is(ValueKind::None)
                  : value.is(ValueKind::String);
  if (good)
    return Value::boolean(true);
  return error(ErrorCode::E0204, span, "{} is {}, got {}", values[0].string(), kind, reprOf(value));
}

} // namespace lstmc::lnet
