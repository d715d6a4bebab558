// Shorthands for ops that passes and gradients make often.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace lstmc::sym {

inline mlir::RankedTensorType rankedType(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

mlir::Value createZeros(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type);
/// The value converted; itself where it has that element type already.
mlir::Value createCast(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                       mlir::Type elementType);
/// The value itself where it has that shape already.
mlir::Value createReshape(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                          llvm::ArrayRef<int64_t> shape);
/// [begin, end) of one axis.
mlir::Value createSliceAxis(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                            int64_t axis, int64_t begin, int64_t end);
/// The value itself where there is only one.
mlir::Value createConcat(mlir::OpBuilder &builder, mlir::Location loc,
                         llvm::ArrayRef<mlir::Value> parts, int64_t axis);
/// Axis i of the result is axis permutation[i] of the value.
mlir::Value createTranspose(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                            llvm::ArrayRef<int64_t> permutation);
/// A negative axis counted from the end.
int64_t normalAxis(int64_t axis, int64_t rank);

} // namespace lstmc::sym
