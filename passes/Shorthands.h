// Uses of ops that stand for others.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace lstmc::passes {

/// Writes them out (ir/sym/Shorthand.td). Before any pass, since the ops have no batch position,
/// gradient or kernel for them.
void writeOutShorthands(mlir::ModuleOp module);

} // namespace lstmc::passes
