#include "tests/nets/Shrink.h"

#include <algorithm>
#include <set>

#include "frontend/lnet/Load.h"
#include "tests/nets/Rebuild.h"

namespace lstmc::nets {

using symbol::EdgeView;
using symbol::GraphView;
using symbol::NodeView;

namespace {

class Shrinker {
public:
  Shrinker(std::string text, const std::function<bool(const std::string &)> &fails)
      : text_(std::move(text)), fails_(fails) {}

  std::string run() {
    if (!load())
      return text_;
    for (bool smaller = true; smaller;) {
      smaller = false;
      smaller |= dropOutputs();
      smaller |= cutNodes();
      smaller |= dropAttributes();
      smaller |= dropScopes();
      smaller |= dropTraining();
      smaller |= smallerBatch();
    }
    return text_;
  }

private:
  bool load() {
    Checked<symbol::Network> net = lnet::loadText("net.lnet", text_);
    if (!net.ok())
      return false;
    view_ = symbol::view(*net->graph);
    fit_ = net->fit;
    return true;
  }

  /// Keeps the change if the net still fails.
  bool attempt(GraphView view, std::vector<symbol::Setting> fit) {
    view = pruned(view);
    if (view.inputs.empty() || view.outputs.empty())
      return false;
    std::string text = write(view, fit).text;
    if (text.empty() || text == text_ || !tried_.insert(text).second || !fails_(text))
      return false;
    text_ = std::move(text);
    return load();
  }
  bool attempt(GraphView view) { return attempt(std::move(view), fit_); }

  bool dropOutputs() {
    bool smaller = false;
    for (size_t i = view_.outputs.size(); view_.outputs.size() > 1 && i-- > 0;) {
      GraphView view = view_;
      view.outputs.erase(view.outputs.begin() + long(i));
      smaller |= attempt(std::move(view));
    }
    return smaller;
  }

  /// Readers of a node read one of its inputs instead, or a new input or parameter of its shape.
  bool cutNodes() {
    bool smaller = false;
    for (size_t i = view_.nodes.size(); i-- > 0;) {
      if (i >= view_.nodes.size() || view_.nodes[i].kind != NodeView::Kind::Op)
        continue;
      bool cut = false;
      const std::vector<std::pair<std::string, EdgeView>> inputs = view_.nodes[i].inputs;
      for (const auto &[name, edge] : inputs)
        if ((cut = attempt(replaced(i, edge))))
          break;
      for (bool parameter : {false, true})
        cut = cut || attempt(withNew(i, parameter));
      smaller |= cut;
    }
    return smaller;
  }

  GraphView replaced(size_t node, const EdgeView &by) const {
    GraphView view = view_;
    auto change = [&](EdgeView &edge) {
      if (!edge.input && edge.index == node)
        edge = by;
    };
    for (size_t i = node + 1; i < view.nodes.size(); ++i)
      for (auto &[name, edge] : view.nodes[i].inputs)
        change(edge);
    std::ranges::for_each(view.outputs, change);
    return view;
  }

  GraphView withNew(size_t node, bool parameter) const {
    GraphView view = view_;
    std::unique_ptr<Rebuilt> built = rebuild(view_);
    if (!built)
      return view;
    for (int output = 0; output < view_.nodes[node].outputs; ++output) {
      symbol::Symbol symbol = built->nodes[node][size_t(output)];
      symbol::Shape shape = symbol.shape();
      nameBatch(shape);
      EdgeView by{true, view.inputs.size(), 0};
      std::string name =
          (parameter ? "p" : "x") + std::to_string(node) + "_" + std::to_string(output);
      DType dtype = symbol.dtype().value_or(DType::F32);
      if (parameter) {
        // Inserted before all nodes, so their indices increase by one.
        NodeView variable;
        variable.kind = NodeView::Kind::Variable;
        variable.name = name;
        variable.dtype = dtype;
        variable.shape = symbol.shape();
        variable.init = {"uniform", {{"scale", 0.7}}, {}, {}};
        return withVariable(node, variable);
      }
      view.inputs.push_back({name, dtype, shape, symbol::Role::Data});
      auto change = [&](EdgeView &edge) {
        if (!edge.input && edge.index == node && edge.output == output)
          edge = by;
      };
      for (NodeView &reader : view.nodes)
        for (auto &[input, edge] : reader.inputs)
          change(edge);
      std::ranges::for_each(view.outputs, change);
    }
    return view;
  }

  /// A node with one output becomes a parameter.
  GraphView withVariable(size_t node, const NodeView &variable) const {
    GraphView view = view_;
    if (view.nodes[node].outputs == 1)
      view.nodes[node] = variable;
    return view;
  }

  void nameBatch(symbol::Shape &shape) const {
    int64_t batch = 0;
    for (const symbol::InputView &input : view_.inputs)
      for (const symbol::Dim &dim : input.shape.dims)
        if (dim.name == "batch")
          batch = dim.extent;
    bool named = std::ranges::any_of(shape.dims, [](const auto &dim) { return !dim.name.empty(); });
    for (symbol::Dim &dim : shape.dims)
      if (dim.extent == batch && !named) {
        dim.name = "batch";
        named = true;
      }
  }

  bool dropAttributes() {
    bool smaller = false;
    for (size_t i = 0; i < view_.nodes.size(); ++i)
      for (size_t k = i < view_.nodes.size() ? view_.nodes[i].attributes.size() : 0; k-- > 0;) {
        GraphView view = view_;
        if (i >= view.nodes.size() || k >= view.nodes[i].attributes.size())
          continue;
        view.nodes[i].attributes.erase(view.nodes[i].attributes.begin() + long(k));
        smaller |= attempt(std::move(view));
      }
    return smaller;
  }

  bool dropScopes() {
    GraphView none = view_;
    for (NodeView &node : none.nodes) {
      node.group.clear();
      node.recompute = false;
    }
    bool smaller = attempt(std::move(none));
    GraphView noRecompute = view_;
    for (NodeView &node : noRecompute.nodes)
      node.recompute = false;
    return attempt(std::move(noRecompute)) || smaller;
  }

  bool dropTraining() {
    bool smaller = false;
    for (size_t i = fit_.size(); i-- > 0;) {
      std::vector<symbol::Setting> fit = fit_;
      fit.erase(fit.begin() + long(i));
      smaller |= attempt(view_, std::move(fit));
    }
    return smaller;
  }

  /// Works if every extent that was the batch follows from the inputs.
  bool smallerBatch() {
    for (int64_t batch : {2, 3, 4, 5, 6}) {
      GraphView view = view_;
      bool less = false;
      auto change = [&](symbol::Shape &shape) {
        for (symbol::Dim &dim : shape.dims)
          if (dim.name == "batch" && dim.extent > batch) {
            dim.extent = batch;
            less = true;
          }
      };
      for (symbol::InputView &input : view.inputs)
        change(input.shape);
      if (less && attempt(std::move(view)))
        return true;
    }
    return false;
  }

  std::string text_;
  const std::function<bool(const std::string &)> &fails_;
  GraphView view_;
  std::vector<symbol::Setting> fit_;
  std::set<std::string> tried_;
};

} // namespace

std::string shrink(const std::string &text, const std::function<bool(const std::string &)> &fails) {
  return Shrinker(text, fails).run();
}

} // namespace lstmc::nets
