#include "frontend/lnet/net/FileNet.h"

#include <algorithm>

#include "frontend/lnet/evaluation/Resolve.h"
#include "frontend/lnet/net/NetBuilder.h"

namespace lstmc::lnet {

namespace {

/// Whether a `def` at file level is a net or may become one.
bool hasNet(const Module &module) {
  return std::ranges::any_of(module.tree->statements, [](const Stmt *stmt) {
    return stmt->kind == StmtKind::Def &&
           std::ranges::any_of(static_cast<const DefStmt *>(stmt)->parameters,
                               [](const Parameter &parameter) { return parameter.type; });
  });
}

/// MXNet's initialisers depend on the suffix of a name.
bool isNameOfParameter(std::string_view name) {
  constexpr std::string_view kEnds[] = {"weight",     "bias",        "gamma",     "beta",
                                        "parameters", "moving_mean", "moving_var"};
  return std::ranges::any_of(kEnds, [&](std::string_view end) { return name.ends_with(end); });
}

} // namespace

void FileNet::allow(Module &main) {
  main_ = &main;
  if (!hasNet(main))
    run_.fileGraph = [this] { return begin(); };
}

symbol::Graph *FileNet::begin() {
  if (run_.at.calls.empty() && !run_.at.module->main)
    return nullptr;
  if (!graph_) {
    graph_ = std::make_unique<symbol::Graph>(std::string(kFileNetName),
                                             NetBuilder::graphOptions(run_, options_));
    run_.graph = graph_.get();
    run_.countNodes();
  }
  return graph_.get();
}

std::optional<Value> FileNet::input(const std::string &name, const symbol::VariableOptions &options,
                                    Span span) {
  if (!graph_ || run_.graph != graph_.get() || !options.init.name.empty() ||
      isNameOfParameter(name))
    return std::nullopt;
  if (auto known = inputs_.find(name); known != inputs_.end())
    return known->second;
  symbol::Shape shape = options.shape;
  if (const InputShape *given = shapeFor(options_, name)) {
    std::vector<symbol::Dim> dims;
    for (int64_t extent : given->extents)
      dims.push_back({extent, {}});
    shape = symbol::Shape(std::move(dims));
  }
  auto role = name.ends_with("label") ? symbol::Role::Label : symbol::Role::Data;
  Checked<symbol::Symbol> made =
      graph_->input(name, options.dtype.value_or(DType::F32), shape, role, run_.place(span));
  nodes_.report(std::move(made.diagnostics()));
  Value value = made.ok() && run_.checkNodes(span) ? nodes_.tensor(*made) : Value::unknown();
  inputs_.emplace(name, value);
  return value;
}

std::unique_ptr<symbol::Graph> FileNet::finish(Module &main) {
  run_.graph = graph_.get();
  if (graph_->rehearsing()) {
    run_.endRehearsal();
    return nullptr;
  }
  checkShapesUsed(main);
  std::vector<symbol::Symbol> outputs;
  for (const Value &value : main.globals.as<FrameObject>().slots) {
    if (!value.is(ValueKind::Tensor))
      continue;
    symbol::Symbol symbol = value.as<TensorObject>().symbol;
    if (symbol.isOpUnread() && std::ranges::find(outputs, symbol) == outputs.end())
      outputs.push_back(symbol);
  }
  if (outputs.empty() && !run_.problems().any())
    run_.report(run_.makeError(ErrorCode::E0318, {}, "no symbol of the file is an output",
                               "give the last one a name: net = SoftmaxOutput(x)"));
  if (run_.problems().any() || run_.aborted())
    return nullptr;
  Diagnostics said = graph_->finish(outputs);
  for (Diagnostic &diagnostic : said)
    if (diagnostic.code == ErrorCode::E0211 && diagnostic.help.empty())
      diagnostic.help = "Variable(\"x\", shape=(2, 3)), or --shape x:2x3";
  nodes_.report(std::move(said));
  run_.graph = nullptr;
  return std::move(graph_);
}

void FileNet::checkShapesUsed(Module &main) {
  std::vector<std::string_view> names;
  for (const auto &[name, value] : inputs_)
    names.push_back(name);
  run_.at.module = &main;
  for (const InputShape &shape : options_.shapes)
    if (!inputs_.contains(shape.input))
      run_.unknownName(ErrorCode::E0001, {},
                       fmt::format("the file has no input \"{}\"", shape.input),
                       NameKind::Attribute, shape.input, names);
}

} // namespace lstmc::lnet
