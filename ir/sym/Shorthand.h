// Attaches the interface of shorthand ops, which expand to other ops (Shorthand.td).
#pragma once

#include "ir/sym/SymOps.h"

namespace lstmc::sym {

/// Attaches the interface to ops whose records do not declare it. The dialect must be loaded.
void attachShorthands(mlir::MLIRContext &context);

} // namespace lstmc::sym
