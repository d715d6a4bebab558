// What the gradients of loss heads are divided by, so that the reported loss is the minimised one.
#pragma once

#include <optional>

#include "ir/sym/SymOps.h"
#include "passes/BatchPositions.h"
#include "passes/Replica.h"

namespace lstmc::passes {

/// Extents of a value with all rows of the batch, where an entry with `share` has some of them.
llvm::SmallVector<int64_t> wholeShape(mlir::Value value, const BatchPositions &positions,
                                      const std::optional<Share> &share);

/// 1 for a head that gives a scalar or divides by itself; else the rows of the batch.
int64_t headDivisor(sym::LossHead head, const BatchPositions &positions,
                    const std::optional<Share> &share);

/// The divisor of all heads of an entry that trains, as make-entries left it; nothing where they
/// differ, 1 where there are none.
std::optional<int64_t> commonHeadDivisor(mlir::func::FuncOp entry);

} // namespace lstmc::passes
