#include "tests/nets/Rebuild.h"

#include "frontend/lnet/Emit.h"

namespace lstmc::nets {

using symbol::EdgeView;
using symbol::GraphView;
using symbol::NodeView;
using symbol::Symbol;

/// Sets the scopes of a node during its call.
static int pushScopes(symbol::Graph &graph, const NodeView &node) {
  int count = 0;
  auto push = [&](symbol::Scope::Kind kind, const std::string &value) {
    graph.push({kind, value});
    ++count;
  };
  if (!node.group.empty())
    push(symbol::Scope::Kind::ContextGroup, node.group);
  if (node.recompute)
    push(symbol::Scope::Kind::Recompute, "");
  return count;
}

static Checked<std::vector<Symbol>> addNode(Rebuilt &to, const NodeView &node) {
  auto one = [](Checked<Symbol> made) -> Checked<std::vector<Symbol>> {
    if (!made.ok())
      return std::move(made.diagnostics());
    return std::vector{*made};
  };
  if (node.kind == NodeView::Kind::Variable) {
    symbol::VariableOptions options{.dtype = node.dtype,
                                    .shape = node.shape,
                                    .init = node.init,
                                    .lrMult = node.lrMult,
                                    .wdMult = node.wdMult,
                                    .shareIsMeant = true};
    return one(to.graph->variable(node.name, options));
  }
  if (node.kind == NodeView::Kind::BeginState)
    return one(to.graph->beginState(node.name, node.dtype, node.shape));
  symbol::Call call;
  call.op = node.op;
  call.name = node.name;
  call.attributes = node.attributes;
  call.dims = node.dims;
  bool variadic = symbol::findOp(node.op)->variadic;
  for (const auto &[name, edge] : node.inputs)
    if (variadic)
      call.positional.push_back(to.at(edge));
    else
      call.named.push_back({name, to.at(edge)});
  return to.graph->apply(call);
}

std::unique_ptr<Rebuilt> rebuild(const GraphView &view) {
  auto to = std::make_unique<Rebuilt>();
  to->graph = std::make_unique<symbol::Graph>(view.name);
  for (const symbol::InputView &input : view.inputs) {
    Checked<Symbol> made = to->graph->input(input.name, input.dtype, input.shape, input.role);
    if (!made.ok())
      return nullptr;
    to->inputs.push_back(*made);
  }
  for (const NodeView &node : view.nodes) {
    int scopes = pushScopes(*to->graph, node);
    Checked<std::vector<Symbol>> made = addNode(*to, node);
    for (; scopes > 0; --scopes)
      to->graph->pop();
    if (!made.ok() || made->size() < size_t(node.outputs))
      return nullptr;
    to->nodes.push_back(*made);
  }
  return to;
}

GraphView pruned(const GraphView &view) {
  std::vector<bool> nodes(view.nodes.size()), inputs(view.inputs.size());
  auto need = [&](const EdgeView &edge) { (edge.input ? inputs : nodes)[edge.index] = true; };
  for (const EdgeView &output : view.outputs)
    need(output);
  for (size_t i = view.nodes.size(); i-- > 0;)
    if (nodes[i])
      for (const auto &[name, edge] : view.nodes[i].inputs)
        need(edge);
  GraphView kept;
  kept.name = view.name;
  std::vector<size_t> nodeAt(nodes.size()), inputAt(inputs.size());
  auto moved = [&](EdgeView edge) {
    edge.index = (edge.input ? inputAt : nodeAt)[edge.index];
    return edge;
  };
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i]) {
      inputAt[i] = kept.inputs.size();
      kept.inputs.push_back(view.inputs[i]);
    }
  for (size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i]) {
      nodeAt[i] = kept.nodes.size();
      NodeView node = view.nodes[i];
      for (auto &[name, edge] : node.inputs)
        edge = moved(edge);
      kept.nodes.push_back(std::move(node));
    }
  for (const EdgeView &output : view.outputs)
    kept.outputs.push_back(moved(output));
  return kept;
}

Written write(const GraphView &view, const std::vector<symbol::Setting> &fit) {
  std::unique_ptr<Rebuilt> made = rebuild(view);
  if (!made)
    return {};
  std::vector<Symbol> outputs;
  for (const EdgeView &output : view.outputs)
    outputs.push_back(made->at(output));
  for (const Diagnostic &diagnostic : made->graph->finish(outputs))
    if (diagnostic.severity == Severity::Error)
      return {};
  return {lnet::emitLnet(*made->graph, fit), made->graph->hash()};
}

} // namespace lstmc::nets
