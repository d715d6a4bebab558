// Ops, and uses of ops, that other ops can express (Shorthand.td).
#pragma once

#include "ir/sym/SymOps.h"

namespace lstmc::sym {

/// Attaches the interface to the ops whose records do not declare it. Their dialect has to be
/// loaded.
void attachShorthands(mlir::MLIRContext &context);

} // namespace lstmc::sym
