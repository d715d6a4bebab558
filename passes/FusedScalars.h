// Helper for passes that emit element-wise computations as sym.fused.
#pragma once

#include "ir/sym/ScalarEmitter.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace lstmc::passes {

using Scalars = llvm::SmallVector<mlir::Value>;

/// Creates a sym.fused over `operands`; `write` emits the body from the operands' scalars.
mlir::ValueRange fuse(mlir::OpBuilder &builder, mlir::Location loc,
                      llvm::ArrayRef<mlir::Value> operands, llvm::ArrayRef<mlir::Type> results,
                      llvm::function_ref<Scalars(sym::ScalarEmitter &, mlir::ValueRange)> write);

} // namespace lstmc::passes
