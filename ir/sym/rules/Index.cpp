// Shapes, batch position, scalar form and cost of the ops in IndexOps.td.
#include "ir/sym/RuleSupport.h"
#include "ir/sym/SymOps.h"

namespace lstmc::sym {

::llvm::LogicalResult EmbeddingOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition EmbeddingOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

::llvm::LogicalResult OneHotOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition OneHotOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

::llvm::LogicalResult PickOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition PickOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

::llvm::LogicalResult TakeOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition TakeOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

} // namespace lstmc::sym
