// What a box of an op says and looks like, and which ops have none.
#pragma once

#include <string>
#include <string_view>

#include "mlir/IR/Operation.h"

namespace lstmc::viz {

struct Look {
  std::string label; ///< first line: the user's name, where there is one
  std::string_view color = "#fccde5";
};

/// Colours are MXNet's (docs/mxnet.md section 7.1), by what an op is.
Look lookOf(mlir::Operation *op);

/// What users call the op: "FullyConnected".
std::string opName(mlir::Operation *op);

/// The user's name of the node; may be empty.
std::string nodeName(mlir::Operation *op);

/// The function of the source in which the op was made, innermost; may be empty.
std::string callOf(mlir::Operation *op);

/// Equal for ops that do the same to values of the same shapes; which part of a value a slice takes
/// does not count. Empty for ops that are told apart by what they are of.
std::string likeness(mlir::Operation *op, bool byGroup);

/// Parameters, zeros, joined parameters and whatever else is kept between calls are part of the box
/// that reads them.
bool isHidden(mlir::Operation *op);

/// Moves of elements: a line, not a box, unless everything is asked for.
bool isMove(mlir::Operation *op);

/// Such a move of what is part of boxes.
bool readsOnlyParameters(mlir::Operation *op);

} // namespace lstmc::viz
