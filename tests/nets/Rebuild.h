// A graph as data, and the graph again of it: what shrinking and the judges of other forms change.
#pragma once

#include <memory>

#include "frontend/symbol/View.h"

namespace lstmc::nets {

/// The graph of a view, unfinished, and what its nodes and inputs became.
struct Rebuilt {
  std::unique_ptr<symbol::Graph> graph;
  std::vector<symbol::Symbol> inputs;
  std::vector<std::vector<symbol::Symbol>> nodes;

  symbol::Symbol at(const symbol::EdgeView &edge) const {
    return edge.input ? inputs[edge.index] : nodes[edge.index][size_t(edge.output)];
  }
};

/// Null where an op's rule refuses what was changed.
std::unique_ptr<Rebuilt> rebuild(const symbol::GraphView &view);

/// Without nodes and inputs that no output depends on.
symbol::GraphView pruned(const symbol::GraphView &view);

/// A net as text, and the hash of the graph that it was written of.
struct Written {
  std::string text; ///< empty where the view is no net
  std::string hash;
};
Written write(const symbol::GraphView &view, const std::vector<symbol::Setting> &fit);

} // namespace lstmc::nets
