// Which values of its operands an op accepts as positions, and to which results it moves values:
// two interfaces apart from SymOps.h, for the few callers that need them.
#pragma once

#include "executor/base/ValueRange.h"
#include "ir/sym/SymOps.h"

namespace lstmc::sym {

/// Elements of a tensor: `begin` to `end` of one axis, or all of them.
struct MovedPart {
  int64_t axis = -1; ///< -1: all
  int64_t begin = 0, end = 0;
};

} // namespace lstmc::sym

#include "ir/sym/ValueUse.h.inc"

namespace lstmc::sym {

/// Attaches the interfaces to the ops, whose dialect has to be loaded.
void attachValueUse(mlir::MLIRContext &context);

} // namespace lstmc::sym
