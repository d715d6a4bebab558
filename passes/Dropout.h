// Dropout as a product with a mask that is drawn from seed, update, op and element.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace lstmc::passes {

/// x times its mask, in the groups of `written`. `axes`: dimensions over which one mask is shared.
/// The entry has inputs `seed` and `update`.
mlir::Value createDropout(mlir::OpBuilder &builder, mlir::Operation *written,
                          mlir::func::FuncOp entry, mlir::Value x, double p, int64_t ordinal,
                          llvm::ArrayRef<int64_t> axes = {});

/// The entry's input of that name and role "scalar"; asserts that there is one.
mlir::Value scalarInput(mlir::func::FuncOp entry, llvm::StringRef name);

} // namespace lstmc::passes
