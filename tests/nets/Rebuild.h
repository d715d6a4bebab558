// A graph as data, and building it again. Reduction and some judges change the data.
#pragma once

#include <memory>

#include "frontend/symbol/View.h"

namespace lstmc::nets {

/// The graph of a view, not finished, and the symbols of its nodes and inputs.
struct Rebuilt {
  std::unique_ptr<symbol::Graph> graph;
  std::vector<symbol::Symbol> inputs;
  std::vector<std::vector<symbol::Symbol>> nodes;

  symbol::Symbol at(const symbol::EdgeView &edge) const {
    return edge.input ? inputs[edge.index] : nodes[edge.index][size_t(edge.output)];
  }
};

/// Null if an op's rule refuses the changed graph.
std::unique_ptr<Rebuilt> rebuild(const symbol::GraphView &view);

/// Removes nodes and inputs that no output depends on.
symbol::GraphView pruned(const symbol::GraphView &view);

/// A net as text, and the hash of the graph from which it was written.
struct Written {
  std::string text; ///< empty if the view is not a net
  std::string hash;
};
Written write(const symbol::GraphView &view, const std::vector<symbol::Setting> &fit);

} // namespace lstmc::nets
