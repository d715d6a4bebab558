// A graph as plain data, for writers of other formats.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "frontend/symbol/Symbol.h"

namespace lstmc::symbol {

/// One output of a node, or an input of the net.
struct EdgeView {
  bool input = false;
  size_t index = 0; ///< among the view's nodes, or its inputs
  int output = 0;
};

struct InputView {
  std::string name;
  DType dtype = DType::F32;
  Shape shape;
  Role role = Role::Data;
};

/// A parameter, a state or a call of an op.
struct NodeView {
  enum class Kind { Variable, BeginState, Op } kind = Kind::Op;
  std::string name;
  std::string op; ///< MXNet's canonical name
  /// By name; "arg0" and so on for a variadic op.
  std::vector<std::pair<std::string, EdgeView>> inputs;
  std::vector<NamedAttribute> attributes; ///< attributes that differ from their defaults
  std::vector<std::string> dims;          ///< as Call has them
  int outputs = 1;                        ///< that users see
  DType dtype = DType::F32;               ///< of a parameter or state
  Shape shape;                            ///< of a parameter or state
  Initialiser init;
  std::optional<double> lrMult, wdMult;
  std::string group; ///< empty: none
  bool recompute = false;
};

struct GraphView {
  std::string name;
  std::vector<InputView> inputs;
  /// In the order of the calls, without those that no output depends on.
  std::vector<NodeView> nodes;
  std::vector<EdgeView> outputs;
};

/// View of a finished graph whose module has not been taken.
GraphView view(const Graph &graph);

} // namespace lstmc::symbol
