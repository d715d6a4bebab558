// Which values ops have a place for, and where they move them: two interfaces beside those of
// SymOps.h, for the few who ask.
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

/// Makes the ops answer; their dialect has been loaded.
void attachValueUse(mlir::MLIRContext &context);

} // namespace lstmc::sym
