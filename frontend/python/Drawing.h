// A network as Python draws it: calls of the Symbol API, each with the place of the user's line.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include "frontend/symbol/Symbol.h"

namespace lstmc::python {

/// A call as Python gives it.
struct PythonCall {
  std::string op;
  std::vector<symbol::Symbol> positional; ///< an absent input is one without a graph
  std::vector<std::pair<std::string, symbol::Symbol>> named;
  nanobind::list attributes; ///< of (name, value)
  std::string name;
  nanobind::object place;
  std::vector<std::string> dims = {}; ///< names of the extents of `shape`

  symbol::Call call() const;
};

/// The graph while it is drawn, and after. Everything raises lstmc.Error as the Symbol API reports.
class Drawing {
public:
  explicit Drawing(const std::string &name) : graph_(std::make_unique<symbol::Graph>(name)) {}

  symbol::Symbol input(const std::string &name, const std::string &dtype, nanobind::handle shape,
                       bool label, nanobind::handle place);
  symbol::Symbol variable(const std::string &name, const nanobind::dict &options,
                          nanobind::handle place);
  std::vector<symbol::Symbol> apply(const PythonCall &call);
  /// "LSTM", "GRU" or "RNNLayer" of Layers.h: output and last states.
  std::vector<symbol::Symbol> layer(const std::string &kind, symbol::Symbol x, int64_t units,
                                    const std::string &name, const nanobind::dict &options,
                                    nanobind::handle place);
  /// "ctx_group", "recompute", "dtype" or "name_scope".
  void push(const std::string &scope, const std::string &value);
  void pop() { graph_->pop(); }

  void finish(const std::vector<symbol::Symbol> &outputs);
  /// Names the outputs, whether or not shapes are known; the drawing is of no further use but to be
  /// listed.
  void finishForNames(const std::vector<symbol::Symbol> &outputs);

  symbol::Graph &graph() { return *graph_; }
  /// For the compiler, which spends it.
  std::unique_ptr<symbol::Graph> take() { return std::move(graph_); }

private:
  std::unique_ptr<symbol::Graph> graph_;
};

/// Binds a call against the op's record, its inputs of unknown shapes, and says how many outputs it
/// has: what is wrong with a call by itself is said at the call, before anything is drawn.
int64_t rehearseCall(const PythonCall &call);

void addDrawings(nanobind::module_ &module);

} // namespace lstmc::python
