// Dropout as a product with a random mask, drawn from seed, update, op ordinal and element index.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

#include "ir/sym/BatchPosition.h"
#include "ir/sym/SymOps.h"

namespace lstmc::passes {

/// Returns x times its dropout mask, in the ctx_group and recompute group of `written`. `axes`:
/// dimensions that share one mask. The entry must have inputs `seed` and `update`.
mlir::Value createDropout(mlir::OpBuilder &builder, mlir::Operation *written,
                          mlir::func::FuncOp entry, mlir::Value x, double p, int64_t ordinal,
                          llvm::ArrayRef<int64_t> axes = {});

/// The entry's input `name` with role "scalar"; asserts that it exists.
mlir::Value scalarInput(mlir::func::FuncOp entry, llvm::StringRef name);

/// Whether the mask of a part draws the same random numbers as the whole mask has in the part's
/// rows at `at`: attributes are equal except for the rows.
bool drawsRows(sym::DropoutMaskOp whole, sym::DropoutMaskOp mine, sym::BatchPosition at);

} // namespace lstmc::passes
