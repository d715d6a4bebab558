// Uses of ops that stand for others (Shorthand.td).
#pragma once

#include "ir/sym/SymOps.h"

namespace lstmc::sym {

/// Makes those ops answer whose records do not say that they do; their dialect has been loaded.
void attachShorthands(mlir::MLIRContext &context);

} // namespace lstmc::sym
