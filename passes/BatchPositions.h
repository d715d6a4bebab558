// Position of the batch axis in every value of an entry.
#pragma once

#include <optional>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

#include "ir/sym/BatchPosition.h"

namespace lstmc::passes {

/// Propagates the batch axis from the inputs through every op, by BatchRule. The batch axis of an
/// input is its axis with dim "batch"; if no input has one, axis 0 (MXNet's default).
class BatchPositions {
public:
  explicit BatchPositions(mlir::func::FuncOp entry);

  sym::BatchPosition of(mlir::Value value) const { return positions.lookup(value); }
  /// Rows in the batch; 1 if no value depends on the batch.
  int64_t size() const { return batch; }

private:
  llvm::DenseMap<mlir::Value, sym::BatchPosition> positions;
  int64_t batch = 1;
};

/// Positions of the rows in an op's results, if row r of each result depends only on row r of the
/// operands that have a position here, and on all other operands entirely. BatchRule states this
/// for one operand with rows at a time, so every operand must lead to the same result positions.
/// Returns nullopt if the op mixes rows or has no rule; empty positions if no operand has rows.
/// Results without readers are not checked.
std::optional<llvm::SmallVector<sym::BatchPosition>>
rowByRow(mlir::Operation *op, llvm::ArrayRef<sym::BatchPosition> operands);

/// Type of a part with `rows` rows; `position` is the batch position in `whole`.
mlir::RankedTensorType typeOfPart(mlir::Type whole, sym::BatchPosition position, int64_t rows);

} // namespace lstmc::passes
