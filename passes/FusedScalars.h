// Elementwise ops that passes write as scalar operations.
#pragma once

#include "ir/sym/ScalarEmitter.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace lstmc::passes {

using Scalars = llvm::SmallVector<mlir::Value>;

/// A sym.fused over `operands`, whose body `write` makes from their scalars.
mlir::ValueRange fuse(mlir::OpBuilder &builder, mlir::Location loc,
                      llvm::ArrayRef<mlir::Value> operands, llvm::ArrayRef<mlir::Type> results,
                      llvm::function_ref<Scalars(sym::ScalarEmitter &, mlir::ValueRange)> write);

} // namespace lstmc::passes
