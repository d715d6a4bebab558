// Shapes, batch position, scalar form and cost of the ops in ProductOps.td.
#include "ir/sym/RuleSupport.h"
#include "ir/sym/SymOps.h"

namespace lstmc::sym {

::llvm::LogicalResult BatchDotOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition BatchDotOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

int64_t BatchDotOp::flops() { return defaultFlops(*this); }

::llvm::LogicalResult DotOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition DotOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

int64_t DotOp::flops() { return defaultFlops(*this); }

::llvm::LogicalResult FullyConnectedOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition FullyConnectedOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

int64_t FullyConnectedOp::flops() { return defaultFlops(*this); }

} // namespace lstmc::sym
