// A network as a picture of its layers.
#pragma once

#include <string>

#include "mlir/IR/BuiltinOps.h"

namespace lstmc::viz {

struct NetworkOptions {
  bool shapes = true;   ///< on edges
  bool memory = false;  ///< in boxes: bytes of an op's results, and of the parameters that it reads
  std::string device;   ///< in boxes: what carries the net out; empty: left out
  bool allOps = false;  ///< a box per op; else moves of elements are drawn into their edge
};

/// DOT of the net (the first function) of a sym module.
std::string networkDot(mlir::ModuleOp module, const NetworkOptions &options = {});

} // namespace lstmc::viz
