// Helpers for element-wise gradients.
#pragma once

#include "ir/sym/Expression.h"
#include "ir/sym/GradientBuilder.h"

namespace lstmc::sym {

/// `value` broadcast to the shape of the forward value `like`, with the same position of the batch.
inline mlir::Value broadcastLike(GradientBuilder &builder, mlir::Location loc, mlir::Value value,
                                 mlir::Value like) {
  auto type = llvm::cast<mlir::RankedTensorType>(like.getType());
  auto wide = builder.create<BroadcastToOp>(loc, type, value, type.getShape());
  if (BatchPosition rows = builder.batch(like))
    wide->setAttr(kBatchAtAttr, builder.getDenseI64ArrayAttr({rows.axis, rows.outer, rows.inner}));
  return wide;
}

} // namespace lstmc::sym
