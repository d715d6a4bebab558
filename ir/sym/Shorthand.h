// Uses of ops that stand for others (Shorthand.td): an interface beside those of SymOps.h.
#pragma once

#include "ir/sym/SymOps.h"

#include "ir/sym/Shorthand.h.inc"

namespace lstmc::sym {

/// Makes the ops answer; their dialect has been loaded.
void attachShorthands(mlir::MLIRContext &context);

} // namespace lstmc::sym
