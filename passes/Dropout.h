// Dropout as a product with a mask that is drawn from seed, update, op and element.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

#include "ir/sym/BatchPosition.h"
#include "ir/sym/SymOps.h"

namespace lstmc::passes {

/// x times its mask, in the groups of `written`. `axes`: dimensions over which one mask is shared.
/// The entry has inputs `seed` and `update`.
mlir::Value createDropout(mlir::OpBuilder &builder, mlir::Operation *written,
                          mlir::func::FuncOp entry, mlir::Value x, double p, int64_t ordinal,
                          llvm::ArrayRef<int64_t> axes = {});

/// The entry's input of that name and role "scalar"; asserts that there is one.
mlir::Value scalarInput(mlir::func::FuncOp entry, llvm::StringRef name);

/// Whether a part's mask, which names its elements of the part's, draws those of its rows, which
/// are at `at` in the whole: the same steps, and all else but the rows.
bool drawsRows(sym::DropoutMaskOp whole, sym::DropoutMaskOp mine, sym::BatchPosition at);

} // namespace lstmc::passes
