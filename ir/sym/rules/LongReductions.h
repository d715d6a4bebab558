// Reductions of int64, which f64 does not hold: by digits that it does hold, products by integers.
#pragma once

#include "ir/sym/SymOps.h"

namespace lstmc::sym {

/// As MXNet has it: wraps where it leaves int64. Exact for as many elements as there may be.
mlir::Value sumOfLongs(SumOp op, mlir::OpBuilder &builder);
/// Of the sum that has wrapped, divided as integers are: towards 0.
mlir::Value meanOfLongs(MeanOp op, mlir::OpBuilder &builder);
/// Wraps; multiplied pair by pair, an op for each power of 2.
mlir::Value productOfLongs(ProdOp op, mlir::OpBuilder &builder);
mlir::Value extremeOfLongs(MaxOp op, mlir::OpBuilder &builder);
mlir::Value extremeOfLongs(MinOp op, mlir::OpBuilder &builder);

} // namespace lstmc::sym
