// Where the batch is in every value of an entry.
#pragma once

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

} // namespace lstmc::passes
