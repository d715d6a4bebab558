// Shapes, batch position, scalar form and cost of the ops in ShapeOps.td.
#include "ir/sym/RuleSupport.h"
#include "ir/sym/SymOps.h"

namespace lstmc::sym {

::llvm::LogicalResult BroadcastAxisOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition BroadcastAxisOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

::llvm::LogicalResult BroadcastToOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition BroadcastToOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

::llvm::LogicalResult ConcatOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition ConcatOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

::llvm::LogicalResult ExpandDimsOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition ExpandDimsOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

::llvm::LogicalResult FlattenOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition FlattenOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

::llvm::LogicalResult RepeatOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition RepeatOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

::llvm::LogicalResult ReshapeOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition ReshapeOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

::llvm::LogicalResult ReverseOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition ReverseOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

::llvm::LogicalResult SliceAxisOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition SliceAxisOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

::llvm::LogicalResult SliceChannelOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition SliceChannelOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

int64_t SliceChannelOp::resultCount(mlir::DictionaryAttr attributes) { return 1; }

::llvm::LogicalResult SliceOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition SliceOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

::llvm::LogicalResult SqueezeOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition SqueezeOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

::llvm::LogicalResult StackOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition StackOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

::llvm::LogicalResult SwapAxisOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition SwapAxisOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

::llvm::LogicalResult TileOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition TileOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

::llvm::LogicalResult TransposeOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition TransposeOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

} // namespace lstmc::sym
