// Shapes, batch position, scalar form and cost of the ops in ReduceOps.td.
#include "ir/sym/RuleSupport.h"
#include "ir/sym/SymOps.h"

namespace lstmc::sym {

::llvm::LogicalResult ArgmaxOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition ArgmaxOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

int64_t ArgmaxOp::flops() { return defaultFlops(*this); }

::llvm::LogicalResult LayerNormOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition LayerNormOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

int64_t LayerNormOp::flops() { return defaultFlops(*this); }

::llvm::LogicalResult LogSoftmaxOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition LogSoftmaxOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

int64_t LogSoftmaxOp::flops() { return defaultFlops(*this); }

::llvm::LogicalResult MaxOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition MaxOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

int64_t MaxOp::flops() { return defaultFlops(*this); }

::llvm::LogicalResult MeanOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition MeanOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

int64_t MeanOp::flops() { return defaultFlops(*this); }

::llvm::LogicalResult MinOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition MinOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

int64_t MinOp::flops() { return defaultFlops(*this); }

::llvm::LogicalResult NormOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition NormOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

int64_t NormOp::flops() { return defaultFlops(*this); }

::llvm::LogicalResult ProdOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition ProdOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

int64_t ProdOp::flops() { return defaultFlops(*this); }

::llvm::LogicalResult SoftmaxOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition SoftmaxOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

int64_t SoftmaxOp::flops() { return defaultFlops(*this); }

::llvm::LogicalResult SumOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition SumOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

int64_t SumOp::flops() { return defaultFlops(*this); }

} // namespace lstmc::sym
