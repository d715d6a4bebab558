// Shapes, batch position, scalar form and cost of the ops in SourceOps.td.
#include "ir/sym/RuleSupport.h"
#include "ir/sym/SymOps.h"

namespace lstmc::sym {

::llvm::LogicalResult ArangeOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition ArangeOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

::llvm::LogicalResult BeginStateOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition BeginStateOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

::llvm::LogicalResult FullOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition FullOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

::llvm::LogicalResult OnesOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition OnesOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

::llvm::LogicalResult VariableOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition VariableOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

::llvm::LogicalResult ZerosOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition ZerosOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

} // namespace lstmc::sym
