// Shapes, batch position, scalar form and cost of the ops in RecurrentOps.td.
#include "ir/sym/RuleSupport.h"
#include "ir/sym/SymOps.h"

namespace lstmc::sym {

::llvm::LogicalResult RnnOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition RnnOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

int64_t RnnOp::flops() { return defaultFlops(*this); }

int64_t RnnOp::resultCount(mlir::DictionaryAttr attributes) { return 1; }

::llvm::LogicalResult RnnParamConcatOp::relateShapes(ShapeRelation &relation) { return mlir::success(); }

BatchPosition RnnParamConcatOp::batchOfResult(unsigned index, llvm::ArrayRef<BatchPosition> operands) { return BatchPosition::none(); }

} // namespace lstmc::sym
