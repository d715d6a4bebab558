// Expansion of shorthand ops.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace lstmc::passes {

/// Replaces shorthand ops by the ops that they stand for (ir/sym/Shorthand.td). Runs before all
/// passes, because shorthands have no batch position, gradient or kernel.
void writeOutShorthands(mlir::ModuleOp module);

} // namespace lstmc::passes
