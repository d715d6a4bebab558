// Label and colour of an op's box, and which ops have no box.
#pragma once

#include <string>
#include <string_view>

#include "mlir/IR/Operation.h"

namespace lstmc::viz {

struct Look {
  std::string label; ///< lines; the first is the user's name, if there is one
  std::string_view color = "#fccde5";
};

/// Colours by kind of op, as in MXNet (docs/mxnet.md section 7.1).
Look lookOf(mlir::Operation *op);

/// The user-visible name of the op: "FullyConnected".
std::string opName(mlir::Operation *op);

/// The user's name of the node; may be empty.
std::string nodeName(mlir::Operation *op);

/// The innermost source function in which the op was created; may be empty.
std::string callOf(mlir::Operation *op);

/// Equal for ops that compute the same on values of the same shapes; which slice of a value they
/// take is ignored. Empty for ops that are distinguished by identity.
std::string likeness(mlir::Operation *op, bool byGroup);

/// Whether the op is drawn as part of its reader's box: parameters, zeros, joined parameters and
/// persistent values.
bool isHidden(mlir::Operation *op);

/// Whether the op only moves elements: drawn as an edge, unless all ops are shown.
bool isMove(mlir::Operation *op);

/// Whether the op is such a movement of parameters only.
bool readsOnlyParameters(mlir::Operation *op);

} // namespace lstmc::viz
