// Networks as MXNet's symbol.json.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "executor/base/Status.h"
#include "frontend/symbol/View.h"

namespace lstmc::importers::mxnet {

/// Attributes of a node or variable by their names in files: `__mood__`, `__shape__`.
using NodeMarks = std::map<std::string, std::string>;

/// What a file says and a graph does not know.
struct SymbolMarks {
  std::map<std::string, NodeMarks> nodes; ///< by the name of a node or variable
  /// One variable in place of all that a layer's vector is joined of, as MXNet's FusedRNNCell has
  /// it.
  struct Vector {
    std::string variable, init;
  };
  std::map<std::string, Vector> vectors; ///< by the name of the node that joins
};

struct SymbolText {
  std::string text;
  std::vector<std::string> warnings;
};

/// The text that MXNet 1.9.1 writes for the network: its order of nodes, its layout to the byte.
/// Where MXNet wants more than lstmc, the file says more: attributes that it requires, initial
/// states (`_zeros` of an open batch), the shapes of the matrices of upper layers and their
/// flattening; ops that it lacks are written in others. A warning names an op that has no
/// counterpart. E0613 for a call that leaves out an input before one that it has, which a file
/// cannot say.
Result<SymbolText> writeSymbol(const symbol::GraphView &view, const SymbolMarks &marks = {});

/// The marks of a network that has its shapes: all shapes, element types and batch axes that are
/// not MXNet's defaults, the batch as 0. Inputs of integers are written without a type: there ids
/// are floats.
SymbolMarks marksOf(const symbol::GraphView &view);

} // namespace lstmc::importers::mxnet
