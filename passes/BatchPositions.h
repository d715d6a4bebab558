// Where the batch is in every value of an entry.
#pragma once

#include <optional>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

#include "ir/sym/BatchPosition.h"

namespace lstmc::passes {

/// Follows the batch axis from the inputs through every op, by their BatchRule. The batch of an
/// input is its axis of the dim "batch"; where no input has one, axis 0 (MXNet's default).
class BatchPositions {
public:
  explicit BatchPositions(mlir::func::FuncOp entry);

  sym::BatchPosition of(mlir::Value value) const { return positions.lookup(value); }
  /// Rows in the batch; 1 when nothing depends on it.
  int64_t size() const { return batch; }

private:
  llvm::DenseMap<mlir::Value, sym::BatchPosition> positions;
  int64_t batch = 1;
};

/// Where the rows of an op's results are, if row r of each is made of row r of the operands that
/// have a position here, and of all of the others: BatchRule promises that for one operand with
/// rows, so each by itself has to lead to the same rows. Nothing where the op mixes rows or does
/// not say; none for all if nothing here has rows. Results without readers may be anything.
std::optional<llvm::SmallVector<sym::BatchPosition>>
rowByRow(mlir::Operation *op, llvm::ArrayRef<sym::BatchPosition> operands);

/// The type of a part that has so many of the rows; `position` says where they are in `whole`.
mlir::RankedTensorType typeOfPart(mlir::Type whole, sym::BatchPosition position, int64_t rows);

} // namespace lstmc::passes
