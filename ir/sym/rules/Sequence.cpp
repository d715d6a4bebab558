// Shapes, batch position, scalar form and cost of the ops in SequenceOps.td.
#include "ir/sym/RuleSupport.h"
#include "ir/sym/SymOps.h"

namespace lstmc::sym {

::llvm::LogicalResult SequenceLastOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition SequenceLastOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

::llvm::LogicalResult SequenceMaskOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition SequenceMaskOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

::llvm::LogicalResult SequenceReverseOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition SequenceReverseOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

} // namespace lstmc::sym
