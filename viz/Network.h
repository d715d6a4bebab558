// A network as a picture of its layers.
#pragma once

#include <string>

#include "mlir/IR/BuiltinOps.h"

namespace lstmc::viz {

struct NetworkOptions {
  bool shapes = true;   ///< on edges, without the batch
  bool allOps = false;  ///< a box per op; else moves of elements are drawn into their edge
};

/// DOT of the net (the first function) of a sym module.
std::string networkDot(mlir::ModuleOp module, const NetworkOptions &options = {});

} // namespace lstmc::viz
