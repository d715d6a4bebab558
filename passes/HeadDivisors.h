// Divisors of the loss heads' gradients, which make the minimised loss equal the reported one.
#pragma once

#include <optional>

#include "ir/sym/SymOps.h"
#include "passes/BatchPositions.h"
#include "passes/Replica.h"

namespace lstmc::passes {

/// Shape of a value with all rows of the batch, for an entry that has only the rows of `share`.
llvm::SmallVector<int64_t> wholeShape(mlir::Value value, const BatchPositions &positions,
                                      const std::optional<Share> &share);

/// 1 for a head that returns a scalar or divides by itself; else the number of rows in the batch.
int64_t headDivisor(sym::LossHead head, const BatchPositions &positions,
                    const std::optional<Share> &share);

/// The common divisor of all heads of an entry that trains, as set by make-entries; nullopt if they
/// differ, 1 without heads.
std::optional<int64_t> commonHeadDivisor(mlir::func::FuncOp entry);

} // namespace lstmc::passes
