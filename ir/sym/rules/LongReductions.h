// Exact int64 reductions. f64 cannot represent all int64 values, so sums are computed by digits,
// products by integer ops.
#pragma once

#include "ir/sym/SymOps.h"

namespace lstmc::sym {

/// Wraps around like MXNet's. Exact up to the maximum number of elements.
mlir::Value sumOfLongs(SumOp op, mlir::OpBuilder &builder);
/// The wrapped sum divided by the count, rounded towards 0.
mlir::Value meanOfLongs(MeanOp op, mlir::OpBuilder &builder);
/// Wraps around; reduces pairwise, one op per power of 2.
mlir::Value productOfLongs(ProdOp op, mlir::OpBuilder &builder);
mlir::Value extremeOfLongs(MaxOp op, mlir::OpBuilder &builder);
mlir::Value extremeOfLongs(MinOp op, mlir::OpBuilder &builder);

} // namespace lstmc::sym
