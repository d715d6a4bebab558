// What the rules of ops are written with: relations of shapes, positions of the batch, scalar
// operations, costs.
#pragma once

#include "ir/sym/ScalarEmitter.h"
#include "ir/sym/ShapeRelation.h"
#include "ir/sym/SymOps.h"

namespace lstmc::sym {

enum class Numbers { Any, Float };

// ---- shapes ----

/// All operands and results have one shape and type; E0208 where the type is no float and has to
/// be.
llvm::LogicalResult relateEqual(ShapeRelation &relation, mlir::Operation *op, Numbers numbers);
/// Two operands and the result have one rank and type; extents of 1 stretch.
llvm::LogicalResult relateBroadcast(ShapeRelation &relation, mlir::Operation *op, Numbers numbers);
/// The axis counted from 0; E0319 naming the attribute if `value`, which is ranked, has no such
/// axis.
llvm::FailureOr<int64_t> axisOf(ShapeRelation &relation, mlir::Value value, int64_t axis,
                                llvm::StringRef attribute);
/// The same for several, ascending; none may stand twice.
llvm::FailureOr<llvm::SmallVector<int64_t>> axesOf(ShapeRelation &relation, mlir::Value value,
                                                   llvm::ArrayRef<int64_t> axes,
                                                   llvm::StringRef attribute);
/// E0319 "ATTRIBUTE is N, wants at least LEAST".
llvm::LogicalResult atLeast(ShapeRelation &relation, int64_t value, int64_t least,
                            llvm::StringRef attribute);
/// The data have at least this many axes (E0207); they are ranked.
llvm::LogicalResult rankAtLeast(ShapeRelation &relation, mlir::Value value, int64_t least);
/// `to` is `from` without some axes, ascending (with `keep`: with extent 1 there); without any axis
/// left, [1].
llvm::LogicalResult relateRemoved(ShapeRelation &relation, mlir::Value from, mlir::Value to,
                                  llvm::ArrayRef<int64_t> axes, bool keep);
/// Product that saturates, for costs.
int64_t product(llvm::ArrayRef<int64_t> extents);

// ---- random numbers ----

/// `window`, which may be null, is one (executor/abi/ElementWindow.h) for a result of that type.
llvm::LogicalResult verifyWindow(mlir::Operation *op, mlir::DenseI64ArrayAttr window,
                                 mlir::Type result);

// ---- batch ----

/// The first operand's position that is one.
BatchPosition firstBatch(llvm::ArrayRef<BatchPosition> operands);
/// The same for operands whose extents may have been stretched: a stretched batch of 1 is none.
BatchPosition broadcastBatch(mlir::Operation *op, llvm::ArrayRef<BatchPosition> operands);
/// Where nothing but the op itself says it, whose rows are all alike: what sym.batch_at says, or
/// the axis whose extent was written as the dim of the batch.
BatchPosition writtenBatch(mlir::Operation *op);
/// The position of an operand that has not got `axis` of the result, or has it with extent 1.
BatchPosition withAxis(BatchPosition position, int64_t axis, bool kept);
/// The position, unless it is on `axis`, along which an op makes one thing of all elements.
BatchPosition unlessOn(BatchPosition position, int64_t axis);
/// Elements from one row of the batch to the next in a value of this type.
int64_t strideOfRows(mlir::Type type, BatchPosition position);
/// The position at another axis; none if that is below 0.
BatchPosition movedTo(BatchPosition position, int64_t axis);
/// The position once some axes, ascending, have gone (none if it was in one of them).
BatchPosition withoutAxes(BatchPosition position, llvm::ArrayRef<int64_t> axes, bool keep);
/// The position after the same elements have been given another shape; none if the batch is cut
/// into several axes.
BatchPosition reshaped(BatchPosition position, llvm::ArrayRef<int64_t> from,
                       llvm::ArrayRef<int64_t> to);

// ---- cost ----

/// Elements of the first result times the scalar operations of one element.
int64_t elementwiseFlops(mlir::Operation *op);
/// Elements of a value; 0 while it is open.
int64_t elementsOf(mlir::Value value);

/// Extents of a value whose shape is known.
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getShape();
}
inline int64_t rankOf(mlir::Value value) { return shapeOf(value).size(); }

} // namespace lstmc::sym
