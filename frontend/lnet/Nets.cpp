// Which function is the net, and drawing it.
#include "frontend/lnet/Evaluator.h"
#include "frontend/symbol/Suggest.h"

namespace lstmc::lnet {

/// All parameters have a type or a default, at least one a type.
bool Evaluator::isNet(const FunctionObject &function) const {
  if (!function.def)
    return false;
  bool typed = false;
  for (size_t i = 0; i < function.types.size(); ++i) {
    if (!function.types[i] && function.defaults[i].is(ValueKind::Unset))
      return false;
    typed |= function.types[i] != nullptr;
  }
  return typed;
}

/// Nets that the file itself defines, in its order.
std::vector<FunctionObject *> Evaluator::netsOf(Module &module) const {
  std::vector<FunctionObject *> nets;
  for (const Value &value : module.globals.as<FrameObject>().slots)
    if (value.is(ValueKind::Function) && value.as<FunctionObject>().module == &module &&
        isNet(value.as<FunctionObject>()))
      nets.push_back(&value.as<FunctionObject>());
  std::sort(nets.begin(), nets.end(), [](FunctionObject *a, FunctionObject *b) {
    return a->def->span.begin < b->def->span.begin;
  });
  nets.erase(std::unique(nets.begin(), nets.end()), nets.end());
  return nets;
}

FunctionObject *Evaluator::chooseNet(Module &module, bool shouldReport) {
  std::vector<FunctionObject *> nets = netsOf(module);
  auto fail = [&](Span span, std::string message, std::string help) -> FunctionObject * {
    if (!shouldReport)
      return nullptr;
    Diagnostic diagnostic;
    diagnostic.code = ErrorCode::E0318;
    diagnostic.message = std::move(message);
    diagnostic.help = std::move(help);
    diagnostic.place = module.file->range(span);
    for (FunctionObject *net : nets)
      if (diagnostic.reasons.size() < 5)
        diagnostic.reasons.push_back(
            {fmt::format("net \"{}\" is at {}", net->name(),
                         module.file->placeText(net->def->name->span.begin)),
             module.file->range(net->def->name->span)});
    problems_.add(std::move(diagnostic));
    return nullptr;
  };
  auto named = [&](std::string_view name) -> FunctionObject * {
    auto at = module.tree->scope->slots.find(name);
    if (at == module.tree->scope->slots.end())
      return nullptr;
    const Value &value = module.globals.as<FrameObject>().slots[at->second];
    return value.is(ValueKind::Function) && isNet(value.as<FunctionObject>())
               ? &value.as<FunctionObject>()
               : nullptr;
  };
  if (!options_.net.empty()) {
    if (FunctionObject *net = named(options_.net))
      return net;
    std::vector<std::string_view> names;
    for (FunctionObject *net : nets)
      names.push_back(net->name());
    return fail({}, fmt::format("no net is named \"{}\"", options_.net),
                didYouMean(options_.net, names));
  }
  if (fit_.size() == 1)
    return named(fit_[0].net);
  if (nets.size() == 1)
    return nets[0];
  if (nets.empty())
    return problems_.any()
               ? nullptr
               : fail({}, "the file has no net: a function whose parameters have types", {});
  std::string list;
  for (FunctionObject *net : nets)
    list += fmt::format("{}{}", list.empty() ? "" : ", ", net->name());
  return fail(nets[1]->def->name->span,
              fmt::format("the file has {} nets, {}: which?", nets.size(), list), "--net NAME");
}

const InputShape *Evaluator::shapeFor(std::string_view input) const {
  const InputShape *found = nullptr;
  for (const InputShape &shape : options_.shapes)
    if (shape.input == input)
      found = &shape;
  return found;
}

std::map<std::string, int64_t> Evaluator::dimsOfShapes(Module &module) {
  std::map<std::string, int64_t> dims;
  FunctionObject *net = chooseNet(module, false);
  if (!net)
    return dims;
  for (size_t i = 0; i < net->types.size(); ++i) {
    const InputShape *shape =
        net->types[i] ? shapeFor(net->def->parameters[i].name->name) : nullptr;
    if (!shape || net->types[i]->extents.size() != shape->extents.size())
      continue;
    for (size_t k = 0; k < shape->extents.size(); ++k)
      if (uint32_t dim = net->types[i]->extents[k].dim)
        dims.emplace(dims_[dim - 1], shape->extents[k]);
  }
  return dims;
}

std::optional<LoadedNet> Evaluator::drawNet(Module &module) {
  FunctionObject *net = chooseNet(module, true);
  if (!net || aborted_)
    return std::nullopt;
  symbol::GraphOptions graphOptions;
  graphOptions.nodeLimit =
      int64_t(options_.limits.nodes) + 1'000'000; // checkNodes stops earlier and says why
  graphOptions.rehearsable = rehearses_;
  auto graph = std::make_unique<symbol::Graph>(std::string(net->name()), graphOptions);
  graph_ = graph.get();
  module_ = &module;

  Value frame = heap_.make<FrameObject>(net->closure, net->def->scope->names.size(), ++runs_);
  frame_ = &module.globals.as<FrameObject>();
  module_ = net->module;
  for (size_t i = 0; i < net->types.size(); ++i) {
    const Parameter &parameter = net->def->parameters[i];
    std::string name(parameter.name->name);
    Value &slot = frame.as<FrameObject>().slots[i];
    if (!net->types[i]) {
      slot = net->defaults[i];
      continue;
    }
    const TypeValue &type = *net->types[i];
    slot = Value::unknown();
    if (type.unknown)
      continue;
    if (!type.dtype) {
      error(ErrorCode::E0204, type.span, "input \"{}\" is a tensor, declared {}", name,
            typeText(type));
      continue;
    }
    symbol::Shape shape = shapeOf(type);
    if (const InputShape *given = shapeFor(name)) {
      std::vector<symbol::Dim> dims;
      for (int64_t extent : given->extents)
        dims.push_back({extent, {}});
      bool fits = (!given->dtype || given->dtype == type.dtype) &&
                  (!shape.ranked || shape.dims.size() == dims.size());
      for (size_t k = 0; fits && shape.ranked && k < dims.size(); ++k) {
        fits = shape.dims[k].extent == symbol::kUnknown || shape.dims[k].extent == dims[k].extent;
        dims[k].name = shape.dims[k].name;
      }
      if (!fits) {
        std::string text;
        for (int64_t extent : given->extents)
          text += (text.empty() ? "" : "x") + std::to_string(extent);
        error(ErrorCode::E0001, type.span, "--shape {}:{} does not fit {}", name, text,
              typeText(type));
        continue;
      }
      shape = symbol::Shape(std::move(dims));
    }
    auto role = name.ends_with("label") ? symbol::Role::Label : symbol::Role::Data;
    Checked<symbol::Symbol> input =
        graph->input(name, *type.dtype, shape, role, place(parameter.name->span));
    reportGraph(std::move(input.diagnostics()));
    if (input.ok())
      slot = wrap(*input);
  }
  for (const InputShape &shape : options_.shapes) {
    std::vector<std::string_view> inputs;
    for (size_t i = 0; i < net->types.size(); ++i)
      if (net->types[i])
        inputs.push_back(net->def->parameters[i].name->name);
    if (std::find(inputs.begin(), inputs.end(), shape.input) == inputs.end())
      report(makeError(ErrorCode::E0001, net->def->name->span,
                       fmt::format("net \"{}\" has no input \"{}\"", net->name(), shape.input),
                       didYouMean(shape.input, inputs)));
  }

  module_ = &module;
  nodes_ = graph->nodeCount();
  Value result = runFunction(*net, frame.as<FrameObject>(), nullptr);
  if (graph->rehearsing()) {
    inVain_ = !limitReached_;
    graph_ = nullptr;
    return std::nullopt;
  }
  std::vector<symbol::Symbol> outputs;
  module_ = net->module;
  if (result.is(ValueKind::Tensor)) {
    outputs.push_back(result.as<TensorObject>().symbol);
  } else if (result.is(ValueKind::Tuple) && !result.items().empty()) {
    bool unknown = false;
    for (const Value &item : result.items()) {
      unknown |= item.isUnknown();
      if (item.is(ValueKind::Tensor))
        outputs.push_back(item.as<TensorObject>().symbol);
    }
    if (unknown)
      result = Value::unknown();
    else if (outputs.size() != result.items().size())
      result = Value::none();
  } else if (!result.isUnknown()) {
    result = Value::none();
  }
  if (result.is(ValueKind::None))
    error(ErrorCode::E0318, net->def->name->span,
          "net \"{}\" returns no tensor or tuple of tensors", net->name());
  if (problems_.any() || aborted_ || result.isUnknown() || result.is(ValueKind::None)) {
    graph_ = nullptr;
    return std::nullopt;
  }

  reportGraph(graph->finish(outputs));
  for (const Declared &declared : declared_)
    checkDeclared(declared.symbol, declared.type, declared.name, declared.place);
  graph_ = nullptr;
  checkSettingsUsed();
  if (problems_.any())
    return std::nullopt;

  LoadedNet loaded;
  loaded.net = net->name();
  for (FunctionObject *each : netsOf(module))
    loaded.nets.emplace_back(each->name());
  auto defaults = [&](const std::vector<NetDefaults> &all) {
    for (const NetDefaults &each : all)
      if (each.net == loaded.net)
        return each.settings;
    return std::vector<symbol::Setting>();
  };
  loaded.fit = defaults(fit_);
  loaded.data = defaults(data_);
  loaded.place = defaults(place_);
  loaded.settings = settings_;
  std::vector<std::pair<std::string, symbol::AttributeValue>> inForce;
  for (const SettingInForce &setting : settings_)
    inForce.emplace_back(setting.name, setting.value);
  if (!loaded.fit.empty())
    graph->setFit(loaded.fit);
  if (!loaded.data.empty())
    graph->setData(loaded.data);
  if (!inForce.empty())
    graph->setSettings(std::move(inForce));
  loaded.graph = std::move(graph);
  for (auto &each : modules_)
    if (!each->internal)
      loaded.files.push_back(each->file->path());
  return loaded;
}

} // namespace lstmc::lnet
