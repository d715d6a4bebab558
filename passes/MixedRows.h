// Ops that mix the rows of the batch: what they give is no row, and of a part of the batch it would
// be another.
#pragma once

#include "llvm/ADT/BitVector.h"

#include "passes/BatchPositions.h"

namespace lstmc::passes {

class MixedRows {
public:
  /// The ops of an entry over the whole batch, and the same ones over a part of it.
  MixedRows(llvm::ArrayRef<mlir::Operation *> whole, llvm::ArrayRef<mlir::Operation *> part,
            const BatchPositions &positions);

  /// E0402 at an op that cannot be done on the whole batch in place of its parts: where its rows
  /// are, or what others make of them, is not known.
  mlir::LogicalResult check(size_t parts) const;
  /// Whether op `index` is to be done on the whole batch.
  bool at(size_t index) const { return mixing.test(index); }
  bool any() const { return mixing.any(); }

  /// Where the rows are in the whole's value that an op of the part has as `part`.
  sym::BatchPosition of(mlir::Value whole, mlir::Value part) const;

private:
  void lookAt(size_t index, mlir::Operation *whole, mlir::Operation *part);

  const BatchPositions &positions;
  llvm::BitVector mixing;
  mlir::Operation *refused = nullptr;
};

} // namespace lstmc::passes
