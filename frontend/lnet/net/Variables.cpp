#include "frontend/lnet/net/Variables.h"

#include <algorithm>

#include "frontend/lnet/evaluation/Collections.h"
#include "frontend/symbol/ValueText.h"

namespace lstmc::lnet {

std::span<const BuiltinRow<Variables>> Variables::functions() {
  static constexpr BuiltinRow<Variables> kTable[] = {
      {"Variable", &Variables::variable},           {"Custom", &Variables::custom},
      {"_layer_name", &Variables::layerName, true}, {"_begin_state", &Variables::beginState},
      {"_expect", &Variables::expect, true},
  };
  return kTable;
}

Value Variables::variable(Arguments &arguments) {
  std::vector<Value> values;
  std::vector<const Expr *> places;
  Span span = calleeSpan(arguments.call);
  if (!bindBuiltin(run_, "Variable", arguments,
                   {{"name", true}, {"shape"}, {"dtype"}, {"init"}, {"lr_mult"}, {"wd_mult"}},
                   values, &places))
    return Value::unknown();
  for (const Value &value : values)
    if (value.isUnknown())
      return value;
  if (!checkName(values[0], places[0]))
    return Value::unknown();
  bool byLayer = run_.at.module->internal;
  const std::string shown =
      byLayer && !run_.at.layerShown.empty() ? run_.at.layerShown : "Variable";
  if (!run_.mayDraw(shown, span))
    return Value::unknown();
  std::optional<symbol::VariableOptions> taken = options(values, places);
  if (!taken)
    return Value::unknown();
  taken->shareIsMeant = !byLayer;
  if (byLayer)
    markLayer(*taken, shown, run_.place(span));
  else if (std::optional<Value> input = fileNet_.input(values[0].string(), *taken, span))
    return *input;
  return nodes_.variable(values[0].string(), *taken, span);
}

/// A layer is called at one place, with the same loop values and calls for all its parameters.
void Variables::markLayer(symbol::VariableOptions &options, const std::string &shown,
                          const SourceRange &call) {
  options.layer = shown;
  options.followsInLayer = call.byte == layerCall_.byte && call.file == layerCall_.file &&
                           call.loops == layerCall_.loops && call.calls == layerCall_.calls;
  layerCall_ = call;
}

bool Variables::checkName(const Value &name, const Expr *place) {
  if (!name.is(ValueKind::String))
    run_.error(ErrorCode::E0204, place->span, "name is a string, got {}", reprOf(name));
  else if (name.string().empty())
    run_.error(ErrorCode::E0204, place->span, "name is a string that is not empty, got \"\"");
  else
    return checkNameLength(run_, name.string(), place->span);
  return false;
}

std::optional<symbol::VariableOptions> Variables::options(const std::vector<Value> &values,
                                                          const std::vector<const Expr *> &places) {
  enum { Name, Shape, DataType, Init, LrMult, WdMult };
  auto given = [&](size_t i) {
    return !values[i].is(ValueKind::Unset) && !values[i].is(ValueKind::None);
  };
  symbol::VariableOptions options;
  if (given(Shape)) {
    std::optional<symbol::Shape> shape = shapeArgument(run_, dims_, values[Shape], places[Shape]);
    if (!shape)
      return std::nullopt;
    options.shape = std::move(*shape);
  }
  if (given(DataType)) {
    const Value &value = values[DataType];
    options.dtype = value.is(ValueKind::String) ? parseDType(value.string()) : std::nullopt;
    if (!options.dtype) {
      run_.error(ErrorCode::E0204, places[DataType]->span, "dtype is a dtype, got {}",
                 reprOf(value));
      return std::nullopt;
    }
  }
  if (given(Init)) {
    std::optional<symbol::Initialiser> init =
        initialValues_.initialiserOf(values[Init], places[Init]);
    if (!init || !takeShape(*init, values[Name].string(), places[Init], options.shape))
      return std::nullopt;
    options.init = std::move(*init);
  }
  for (size_t i : {LrMult, WdMult}) {
    if (!given(i))
      continue;
    if (!values[i].isNumber()) {
      run_.error(ErrorCode::E0204, places[i]->span, "{} is a number, got {}",
                 i == LrMult ? "lr_mult" : "wd_mult", reprOf(values[i]));
      return std::nullopt;
    }
    (i == LrMult ? options.lrMult : options.wdMult) = values[i].number();
  }
  return options;
}

/// Explicit values determine the shape of the variable: E0207 if it has another.
bool Variables::takeShape(const symbol::Initialiser &init, const std::string &name,
                          const Expr *place, symbol::Shape &shape) {
  if (init.name != "values")
    return true;
  const auto &given = std::get<symbol::Tuple>(init.arguments[0].value);
  bool fits = !shape.ranked || shape.dims.size() == given.size();
  shape.dims.resize(shape.ranked ? shape.dims.size() : given.size());
  for (size_t i = 0; fits && i < given.size(); ++i) {
    fits = shape.dims[i].extent == symbol::kUnknown || shape.dims[i].extent == *given[i];
    shape.dims[i].extent = *given[i];
  }
  if (fits) {
    shape.ranked = true;
    return true;
  }
  run_.error(ErrorCode::E0207, place->span, "init has the shape {}, and \"{}\" has another one",
             symbol::valueText(init.arguments[0].value), name);
  return false;
}

Value Variables::layerName(Arguments &arguments) {
  std::vector<Value> values;
  Span span = calleeSpan(arguments.call);
  if (!bindBuiltin(run_, "_layer_name", arguments, {{"name", true}, {"hint", true}}, values) ||
      values[0].isUnknown())
    return Value::unknown();
  if (!run_.mayDraw(run_.at.layerShown, span))
    return Value::unknown();
  std::string name = nodes_.namePrefix();
  if (values[0].is(ValueKind::None)) {
    const std::string &hint = values[1].string();
    name += hint + std::to_string(layerCounts_[hint]++);
  } else if (values[0].is(ValueKind::String)) {
    name += values[0].string();
  } else {
    return run_.error(ErrorCode::E0204, span, "name is a string, got {}", reprOf(values[0]));
  }
  return makeString(run_, std::move(name), span);
}

Value Variables::beginState(Arguments &arguments) {
  std::vector<Value> values;
  std::vector<const Expr *> places;
  Span span = calleeSpan(arguments.call);
  if (!bindBuiltin(run_, "_begin_state", arguments,
                   {{"name", true}, {"shape", true}, {"dtype", true}}, values, &places))
    return Value::unknown();
  for (const Value &value : values)
    if (value.isUnknown())
      return value;
  std::optional<symbol::Shape> shape = shapeArgument(run_, dims_, values[1], places[1]);
  if (!shape || !run_.mayDraw(run_.at.layerShown, span))
    return Value::unknown();
  std::optional<DType> dtype;
  if (values[2].is(ValueKind::Tensor))
    dtype = values[2].as<TensorObject>().symbol.dtype().value_or(DType::F32);
  else if (values[2].is(ValueKind::String))
    dtype = parseDType(values[2].string());
  if (!dtype)
    return run_.error(ErrorCode::E0204, places[2]->span, "dtype is a dtype, got {}",
                      reprOf(values[2]));
  if (!values[0].is(ValueKind::String) || values[0].string().empty())
    return run_.error(ErrorCode::E0204, places[0]->span,
                      "name is a string that is not empty, got {}", reprOf(values[0]));
  return nodes_.beginState(values[0].string(), *dtype, *shape, span);
}

Value Variables::expect(Arguments &arguments) {
  std::vector<Value> values;
  Span span = calleeSpan(arguments.call);
  if (!bindBuiltin(run_, "_expect", arguments, {{"what", true}, {"value", true}, {"kind", true}},
                   values) ||
      values[1].isUnknown())
    return Value::unknown();
  const std::string &kind = values[2].string();
  const Value &value = values[1];
  if (kind.starts_with("[")) // the axes of a tensor, or None
    return expectAxes(values[0].string(), value, kind, span);
  bool good = kind == "a tensor"     ? value.is(ValueKind::Tensor)
              : kind == "a number"   ? value.isNumber()
              : kind == "a bool"     ? value.is(ValueKind::Bool)
              : kind == "TNC or NTC" ? value.is(ValueKind::String) &&
                                           (value.string() == "TNC" || value.string() == "NTC")
                                     : value.is(ValueKind::Integer) && value.integer() >= 1;
  if (good)
    return Value::boolean(true);
  return run_.error(ErrorCode::E0204, span, "{} is {}, got {}", values[0].string(), kind,
                    reprOf(value));
}

Value Variables::expectAxes(std::string_view what, const Value &value, const std::string &axes,
                            Span span) {
  if (value.is(ValueKind::None))
    return Value::boolean(true);
  const auto wanted = size_t(std::ranges::count(axes.substr(0, axes.find(']')), ',')) + 1;
  if (value.is(ValueKind::Tensor)) {
    const symbol::Shape shape = value.as<TensorObject>().symbol.shape();
    if (axes.starts_with("[T,") && shape.ranked && shape.dims.size() == wanted &&
        shape.dims[0].name == "batch")
      run_.warn(ErrorCode::E0319, span,
                fmt::format("the steps of {} are its axis 0, which is the batch: layout=\"NTC\" "
                            "takes them from axis 1",
                            run_.at.layerShown));
    if (!shape.ranked || shape.dims.size() == wanted)
      return Value::boolean(true);
    return run_.error(ErrorCode::E0207, span, "{} has {} {}, wants {}: {}", what, shape.dims.size(),
                      shape.dims.size() == 1 ? "axis" : "axes", wanted, axes);
  }
  return run_.error(ErrorCode::E0204, span, "{} is a tensor {}, got {}", what, axes, reprOf(value));
}

Value Variables::custom(Arguments &arguments) { return refuseCustom(run_, arguments); }

Value refuseCustom(Run &run, const Arguments &arguments) {
  std::string type = "?";
  Span span = calleeSpan(arguments.call);
  for (auto &named : arguments.named)
    if (named.argument->name == "op_type" && named.value.is(ValueKind::String)) {
      type = named.value.string();
      span = named.argument->value->span;
    }
  return run.error(ErrorCode::E0213, span, "op type \"{}\" is Python code", type);
}

} // namespace lstmc::lnet
