#include "frontend/lnet/net/NetBuilder.h"

#include <algorithm>

#include "executor/base/Suggest.h"
#include "frontend/lnet/evaluation/Resolve.h"
#include "frontend/names/Suggestion.h"

namespace lstmc::lnet {

const InputShape *shapeFor(const LoadOptions &options, std::string_view input) {
  const InputShape *found = nullptr;
  for (const InputShape &shape : options.shapes)
    if (shape.input == input)
      found = &shape;
  return found;
}

NetBuilder::NetBuilder(Interpreter &interpreter, Nodes &nodes, Types &types,
                       const LoadOptions &options, FunctionObject &net)
    : interpreter_(interpreter), run_(interpreter.run), nodes_(nodes), types_(types),
      options_(options), net_(net) {
  graph_ = std::make_unique<symbol::Graph>(std::string(net.name()), graphOptions(run_, options));
  run_.graph = graph_.get();
}

symbol::GraphOptions NetBuilder::graphOptions(const Run &run, const LoadOptions &options) {
  symbol::GraphOptions made;
  // A bound of the graph alone: Run::checkNodes stops earlier, with a better message.
  made.nodeLimit = int64_t(options.limits.nodes) + 1'000'000;
  made.rehearsable = run.rehearses();
  return made;
}

std::unique_ptr<symbol::Graph> NetBuilder::build(Module &main) {
  run_.at.frame = &main.globals.as<FrameObject>();
  run_.at.module = net_.module;
  Value frame = frameOfInputs();
  checkShapesUsed();

  run_.at.module = &main;
  run_.countNodes();
  Value result = interpreter_.calls.runBody(net_, frame.as<FrameObject>(), nullptr);
  if (graph_->rehearsing()) {
    run_.endRehearsal();
    return nullptr;
  }

  run_.at.module = net_.module;
  std::optional<std::vector<symbol::Symbol>> returned = outputs(result);
  if (!returned || run_.problems().any() || run_.aborted())
    return nullptr;
  Diagnostics said = graph_->finish(*returned);
  for (Diagnostic &diagnostic : said)
    if (diagnostic.code == ErrorCode::E0211 && diagnostic.help.empty())
      diagnostic.help = "write its extents: data: float32[N, 10], Variable(\"w\", shape=(2, 3))";
  nodes_.report(std::move(said));
  types_.checkAgain();
  return std::move(graph_);
}

//===---- inputs ----------------------------------------------------------------------------===//

Value NetBuilder::frameOfInputs() {
  Value frame = run_.newFrame(net_.closure, *net_.def->scope);
  std::vector<Value> &slots = frame.as<FrameObject>().slots;
  for (size_t i = 0; i < net_.types.size(); ++i)
    slots[i] = net_.types[i] ? input(net_.def->parameters[i], *net_.types[i]) : net_.defaults[i];
  return frame;
}

Value NetBuilder::input(const Parameter &parameter, const TypeValue &type) {
  std::string name(parameter.name->name);
  if (type.unknown)
    return Value::unknown();
  if (!type.dtype)
    return run_.error(ErrorCode::E0204, type.span, "input \"{}\" is a tensor, declared {}", name,
                      types_.text(type));
  std::optional<symbol::Shape> shape = shapeOfInput(name, type);
  if (!shape)
    return Value::unknown();
  auto role = name.ends_with("label") ? symbol::Role::Label : symbol::Role::Data;
  Checked<symbol::Symbol> made =
      graph_->input(name, *type.dtype, *shape, role, run_.place(parameter.name->span));
  nodes_.report(std::move(made.diagnostics()));
  return made.ok() ? nodes_.tensor(*made) : Value::unknown();
}

std::optional<symbol::Shape> NetBuilder::shapeOfInput(std::string_view name,
                                                      const TypeValue &type) {
  symbol::Shape declared = types_.shapeOf(type);
  const InputShape *given = shapeFor(options_, name);
  if (!given)
    return declared;
  std::vector<symbol::Dim> dims;
  for (int64_t extent : given->extents)
    dims.push_back({extent, {}});
  bool fits = (!given->dtype || given->dtype == type.dtype) &&
              (!declared.ranked || declared.dims.size() == dims.size());
  for (size_t i = 0; fits && declared.ranked && i < dims.size(); ++i) {
    const symbol::Dim &dim = declared.dims[i];
    fits = dim.extent == symbol::kUnknown || dim.extent == dims[i].extent;
    dims[i].name = dim.name;
  }
  if (fits)
    return symbol::Shape(std::move(dims));
  run_.error(ErrorCode::E0001, type.span, "--shape {}:{} does not fit {}", name,
             fmt::join(given->extents, "x"), types_.text(type));
  return std::nullopt;
}

void NetBuilder::checkShapesUsed() {
  std::vector<std::string_view> inputs;
  for (size_t i = 0; i < net_.types.size(); ++i)
    if (net_.types[i])
      inputs.push_back(net_.def->parameters[i].name->name);
  for (const InputShape &shape : options_.shapes)
    if (std::ranges::find(inputs, shape.input) == inputs.end()) {
      const std::string near = didYouMean(shape.input, inputs);
      run_.report(
          run_.makeError(ErrorCode::E0001, net_.def->name->span,
                         fmt::format("net \"{}\" has no input \"{}\"", net_.name(), shape.input),
                         near.empty() ? "its inputs are " + listed(shape.input, inputs) : near));
    }
}

//===---- outputs ---------------------------------------------------------------------------===//

std::optional<std::vector<symbol::Symbol>> NetBuilder::outputs(const Value &result) {
  std::vector<Value> items{result};
  if (result.is(ValueKind::Tuple))
    items = result.items();
  if (std::ranges::any_of(items, &Value::isUnknown))
    return std::nullopt;
  std::vector<symbol::Symbol> outputs;
  for (const Value &item : items)
    if (item.is(ValueKind::Tensor))
      outputs.push_back(item.as<TensorObject>().symbol);
  if (!outputs.empty() && outputs.size() == items.size())
    return outputs;
  run_.report(
      run_.makeError(ErrorCode::E0318, net_.def->name->span,
                     fmt::format("net \"{}\" returns no tensor or tuple of tensors", net_.name()),
                     result.is(ValueKind::None) ? "end it with a line: return x"
                                                : fmt::format("it returns {}", reprOf(result))));
  return std::nullopt;
}

} // namespace lstmc::lnet
