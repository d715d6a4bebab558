// Prepares a net for execution by parts of the batch.
#pragma once

#include "llvm/ADT/DenseMap.h"

#include "passes/BatchPositions.h"

namespace lstmc::passes {

/// Inserts `sym.all_rows` before every op that cannot run on a part's rows alone, so that it runs
/// on the whole batch, and `sym.own_rows` after it if its result has rows again. An op stays in the
/// part only if rowByRow() proves it row-wise and it verifies with the types of every part.
class RowMarks {
public:
  /// `rows`: number of rows of each part.
  RowMarks(mlir::func::FuncOp net, llvm::ArrayRef<int64_t> rows);

  /// The position of a part's rows in a value of the net; no axis if the part has the whole value.
  sym::BatchPosition of(mlir::Value value) const { return marks.lookup(value); }

private:
  void mark(mlir::Operation *op, const BatchPositions &positions);
  void gather(mlir::Operation *op, const BatchPositions &positions);
  void matchOperands(mlir::Operation *op, llvm::MutableArrayRef<sym::BatchPosition> operands);
  bool becomesRows(mlir::OpOperand &operand, sym::BatchPosition position);
  bool fits(mlir::Operation *op, llvm::ArrayRef<sym::BatchPosition> operands,
            llvm::ArrayRef<sym::BatchPosition> results);

  llvm::SmallVector<int64_t> rows;
  int64_t batch;
  llvm::DenseMap<mlir::Value, sym::BatchPosition> marks;
};

/// Extracts a part's rows from a value with the rows of the whole batch at `at`.
mlir::Value createOwnRows(mlir::OpBuilder &builder, mlir::Value value, sym::BatchPosition at);

/// Sets the op's shape attribute (ExtentsRule) from its result type, unless the attribute already
/// matches (0 and -1 in Reshape); those remain correct for a chunk of the steps too.
void sayExtents(mlir::Operation *op);

} // namespace lstmc::passes
