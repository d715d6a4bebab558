// Helpers for the gradients of ops that move elements.
#pragma once

#include "ir/sym/GradientBuilder.h"
#include "ir/sym/SymOps.h"

namespace lstmc::sym {

/// Contributes back(gradient of result 0) to operand 0.
template <typename Back>
llvm::LogicalResult sendBack(mlir::Operation *op, GradientBuilder &builder, Back back) {
  mlir::Value dy = builder.resultGradient(0);
  if (dy && builder.wants(op->getOperand(0)))
    builder.add(op->getOperand(0), back(dy));
  return llvm::success();
}

/// Zeros in the shape of operand 0, with dy placed in a window.
inline mlir::Value place(GradientBuilder &builder, mlir::Operation *op, mlir::Value dy,
                         llvm::ArrayRef<int64_t> begin, llvm::ArrayRef<int64_t> step) {
  return builder.create<PlaceOp>(op->getLoc(), op->getOperand(0).getType(), dy, begin, step);
}

} // namespace lstmc::sym
