// What the rules of ops are written with: relations of shapes, positions of the batch, scalar operations, costs.
#pragma once

#include "ir/sym/ScalarEmitter.h"
#include "ir/sym/SymOps.h"

namespace lstmc::sym {

enum class Numbers { Any, Float };

/// All operands and results have one shape and type; E0208 where the type is no float and has to be.
llvm::LogicalResult relateEqual(ShapeRelation &relation, mlir::Operation *op, Numbers numbers);
/// Two operands and the result have one rank and type; extents of 1 stretch.
llvm::LogicalResult relateBroadcast(ShapeRelation &relation, mlir::Operation *op, Numbers numbers);

/// The first operand's position that is one.
BatchPosition firstBatch(llvm::ArrayRef<BatchPosition> operands);
/// The same for operands whose extents may have been stretched: a stretched batch of 1 is none.
BatchPosition broadcastBatch(mlir::Operation *op, llvm::ArrayRef<BatchPosition> operands);

/// Elements of the first result times the scalar operations of one element.
int64_t elementwiseFlops(mlir::Operation *op);

} // namespace lstmc::sym
