// Short functions that create the ops that passes and gradients need most often.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace lstmc::sym {

inline mlir::RankedTensorType rankedType(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

mlir::Value createZeros(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type);
/// A tensor filled with `number`.
mlir::Value createFull(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type,
                       double number);
/// Replaces `half`, a tensor filled with 0.5, by uniform random numbers in [0, 1). `mode` of
/// Dropout: in training only, or always.
mlir::Value createUniform(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value half,
                          llvm::StringRef mode);
/// The value converted; the value itself if it has that element type already.
mlir::Value createCast(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                       mlir::Type elementType);
/// The value itself if it has that shape already.
mlir::Value createReshape(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                          llvm::ArrayRef<int64_t> shape);
/// Elements [begin, end) of one axis.
mlir::Value createSliceAxis(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                            int64_t axis, int64_t begin, int64_t end);
/// The value itself if there is only one.
mlir::Value createConcat(mlir::OpBuilder &builder, mlir::Location loc,
                         llvm::ArrayRef<mlir::Value> parts, int64_t axis);
/// Axis i of the result is axis permutation[i] of the value.
mlir::Value createTranspose(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                            llvm::ArrayRef<int64_t> permutation);
/// Counts a negative axis from the end.
int64_t normalAxis(int64_t axis, int64_t rank);

} // namespace lstmc::sym
