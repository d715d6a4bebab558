// Helpers for the rules of ops: relations of shapes, positions of the batch, random numbers, costs.
#pragma once

#include "ir/sym/ScalarEmitter.h"
#include "ir/sym/ShapeRelation.h"
#include "ir/sym/SymOps.h"

namespace lstmc::sym {

enum class Numbers { Any, Float };

// ---- shapes ----

/// All operands and results have one shape and type; E0208 if `numbers` is Float and the type is
/// not a float.
llvm::LogicalResult relateEqual(ShapeRelation &relation, mlir::Operation *op, Numbers numbers);
/// E0208 unless it is a float, or open; E0215 for float16 and bfloat16.
llvm::LogicalResult wideFloatType(ShapeRelation &relation, mlir::Value value);
/// Two operands and the result have one rank and type; extents of 1 stretch.
llvm::LogicalResult relateBroadcast(ShapeRelation &relation, mlir::Operation *op, Numbers numbers);
/// `output` has this type and the extents in `shape`, 0 for one to infer; an empty shape gives no
/// information.
llvm::LogicalResult relateConstant(ShapeRelation &relation, mlir::Value output,
                                   llvm::ArrayRef<int64_t> shape, llvm::StringRef dtype);
/// The axis counted from 0. Reports E0319, naming the attribute, if `value`, which is ranked, has
/// no such axis.
llvm::FailureOr<int64_t> axisOf(ShapeRelation &relation, mlir::Value value, int64_t axis,
                                llvm::StringRef attribute);
/// The same for several axes, in ascending order; none may be named twice.
llvm::FailureOr<llvm::SmallVector<int64_t>> axesOf(ShapeRelation &relation, mlir::Value value,
                                                   llvm::ArrayRef<int64_t> axes,
                                                   llvm::StringRef attribute);
/// E0319 "ATTRIBUTE is N, wants at least LEAST".
llvm::LogicalResult atLeast(ShapeRelation &relation, int64_t value, int64_t least,
                            llvm::StringRef attribute);
/// `data` has at least this many axes (E0207) and is ranked.
llvm::LogicalResult rankAtLeast(ShapeRelation &relation, mlir::Value value, int64_t least);
/// `to` is `from` without some axes, given in ascending order (with `keep`: with extent 1 in their
/// place). If no axis is left, `to` is [1].
llvm::LogicalResult relateRemoved(ShapeRelation &relation, mlir::Value from, mlir::Value to,
                                  llvm::ArrayRef<int64_t> axes, bool keep);
/// A product for costs that saturates instead of wrapping.
int64_t product(llvm::ArrayRef<int64_t> extents);

// ---- random numbers ----

/// `window`, if not null, is valid (executor/abi/ElementWindow.h) for a result of this type.
llvm::LogicalResult verifyWindow(mlir::Operation *op, mlir::DenseI64ArrayAttr window,
                                 mlir::Type result);

// ---- batch ----

/// The position of the first operand that has rows of the batch.
BatchPosition firstBatch(llvm::ArrayRef<BatchPosition> operands);
/// The same for operands that may be stretched: a batch of extent 1 that is stretched has no
/// position.
BatchPosition broadcastBatch(mlir::Operation *op, llvm::ArrayRef<BatchPosition> operands);
/// For an op without row operands, all rows of whose result are equal: the position in
/// sym.batch_at, or the axis whose extent was written as the dim "batch".
BatchPosition writtenBatch(mlir::Operation *op);
/// The position of `of` within `in`, which has the additional axis `axis`. If the ranks are equal,
/// `of` has extent 1 on that axis: the axis was kept, or it was the only one, and a tensor without
/// axes has the shape [1].
BatchPosition withAxis(BatchPosition position, int64_t axis, mlir::Value of, mlir::Value in);
/// The position; none if it is on `axis`, because the op combines all elements along it.
BatchPosition unlessOn(BatchPosition position, int64_t axis);
/// Elements from one row of the batch to the next in a value of this type.
int64_t strideOfRows(mlir::Type type, BatchPosition position);
/// The position on another axis; none if that is below 0.
BatchPosition movedTo(BatchPosition position, int64_t axis);
/// The position after some axes, ascending, are removed (none if the batch was in one of them).
BatchPosition withoutAxes(BatchPosition position, llvm::ArrayRef<int64_t> axes, bool keep);
/// The position after a reshape; none if the reshape cuts the batch into several axes.
BatchPosition reshaped(BatchPosition position, llvm::ArrayRef<int64_t> from,
                       llvm::ArrayRef<int64_t> to);

// ---- cost ----

/// Elements of the first result times the number of scalar operations per element.
int64_t elementwiseFlops(mlir::Operation *op);
/// Elements of a value; 0 while it is open.
int64_t elementsOf(mlir::Value value);

/// Extents of a value whose shape is known.
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getShape();
}
inline int64_t rankOf(mlir::Value value) { return shapeOf(value).size(); }

} // namespace lstmc::sym
