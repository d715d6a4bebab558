// Reductions of int64, which f64 does not hold: by digits that it does hold.
#pragma once

#include "ir/sym/SymOps.h"

namespace lstmc::sym {

/// As MXNet has it: wraps where it leaves int64. Exact for as many elements as there may be.
mlir::Value sumOfLongs(SumOp op, mlir::OpBuilder &builder);
mlir::Value extremeOfLongs(MaxOp op, mlir::OpBuilder &builder);
mlir::Value extremeOfLongs(MinOp op, mlir::OpBuilder &builder);

} // namespace lstmc::sym
