// Shapes, batch position, scalar form and cost of the ops in ElementwiseOps.td.
#include "ir/sym/RuleSupport.h"
#include "ir/sym/SymOps.h"

namespace lstmc::sym {

::llvm::LogicalResult ActivationOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition ActivationOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

mlir::Value ActivationOp::emitScalar(mlir::OpBuilder &builder, mlir::ValueRange element) { return element[0]; }

int64_t ActivationOp::flops() { return defaultFlops(*this); }

::llvm::LogicalResult AddNOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition AddNOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

mlir::Value AddNOp::emitScalar(mlir::OpBuilder &builder, mlir::ValueRange element) { return element[0]; }

int64_t AddNOp::flops() { return defaultFlops(*this); }

::llvm::LogicalResult CastOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition CastOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

mlir::Value CastOp::emitScalar(mlir::OpBuilder &builder, mlir::ValueRange element) { return element[0]; }

int64_t CastOp::flops() { return defaultFlops(*this); }

::llvm::LogicalResult ClipOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition ClipOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

mlir::Value ClipOp::emitScalar(mlir::OpBuilder &builder, mlir::ValueRange element) { return element[0]; }

int64_t ClipOp::flops() { return defaultFlops(*this); }

::llvm::LogicalResult DropoutOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition DropoutOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

mlir::Value DropoutOp::emitScalar(mlir::OpBuilder &builder, mlir::ValueRange element) { return element[0]; }

int64_t DropoutOp::flops() { return defaultFlops(*this); }

::llvm::LogicalResult HardSigmoidOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition HardSigmoidOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

mlir::Value HardSigmoidOp::emitScalar(mlir::OpBuilder &builder, mlir::ValueRange element) { return element[0]; }

int64_t HardSigmoidOp::flops() { return defaultFlops(*this); }

::llvm::LogicalResult SmoothL1Op::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition SmoothL1Op::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

mlir::Value SmoothL1Op::emitScalar(mlir::OpBuilder &builder, mlir::ValueRange element) { return element[0]; }

int64_t SmoothL1Op::flops() { return defaultFlops(*this); }

::llvm::LogicalResult WhereOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition WhereOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

mlir::Value WhereOp::emitScalar(mlir::OpBuilder &builder, mlir::ValueRange element) { return element[0]; }

int64_t WhereOp::flops() { return defaultFlops(*this); }

} // namespace lstmc::sym
