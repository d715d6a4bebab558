// Interfaces for value ranges: the indices that an op accepts, and the results that it moves values
// to. Separate from SymOps.h because few callers need them.
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

/// Attaches the interfaces to the ops. The dialect must be loaded.
void attachValueUse(mlir::MLIRContext &context);

} // namespace lstmc::sym
