// Shapes, batch position, scalar form and cost of the ops in LossOps.td.
#include "ir/sym/RuleSupport.h"
#include "ir/sym/SymOps.h"

namespace lstmc::sym {

::llvm::LogicalResult LinearRegressionOutputOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition LinearRegressionOutputOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

mlir::Value LinearRegressionOutputOp::emitScalar(mlir::OpBuilder &builder, mlir::ValueRange element) { return element[0]; }

int64_t LinearRegressionOutputOp::flops() { return defaultFlops(*this); }

llvm::StringRef LinearRegressionOutputOp::metricKind() { return "loss"; }

bool LinearRegressionOutputOp::normalises() { return false; }

::llvm::LogicalResult LogisticRegressionOutputOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition LogisticRegressionOutputOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

mlir::Value LogisticRegressionOutputOp::emitScalar(mlir::OpBuilder &builder, mlir::ValueRange element) { return element[0]; }

int64_t LogisticRegressionOutputOp::flops() { return defaultFlops(*this); }

llvm::StringRef LogisticRegressionOutputOp::metricKind() { return "loss"; }

bool LogisticRegressionOutputOp::normalises() { return false; }

::llvm::LogicalResult MaeRegressionOutputOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition MaeRegressionOutputOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

mlir::Value MaeRegressionOutputOp::emitScalar(mlir::OpBuilder &builder, mlir::ValueRange element) { return element[0]; }

int64_t MaeRegressionOutputOp::flops() { return defaultFlops(*this); }

llvm::StringRef MaeRegressionOutputOp::metricKind() { return "loss"; }

bool MaeRegressionOutputOp::normalises() { return false; }

::llvm::LogicalResult MakeLossOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition MakeLossOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

mlir::Value MakeLossOp::emitScalar(mlir::OpBuilder &builder, mlir::ValueRange element) { return element[0]; }

int64_t MakeLossOp::flops() { return defaultFlops(*this); }

llvm::StringRef MakeLossOp::metricKind() { return "loss"; }

bool MakeLossOp::normalises() { return false; }

::llvm::LogicalResult SoftmaxCrossEntropyOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition SoftmaxCrossEntropyOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

int64_t SoftmaxCrossEntropyOp::flops() { return defaultFlops(*this); }

llvm::StringRef SoftmaxCrossEntropyOp::metricKind() { return "loss"; }

bool SoftmaxCrossEntropyOp::normalises() { return false; }

::llvm::LogicalResult SoftmaxOutputOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition SoftmaxOutputOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

int64_t SoftmaxOutputOp::flops() { return defaultFlops(*this); }

llvm::StringRef SoftmaxOutputOp::metricKind() { return "loss"; }

bool SoftmaxOutputOp::normalises() { return false; }

} // namespace lstmc::sym
