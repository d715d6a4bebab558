// A net made so that a part of the batch can carry it out on its own rows.
#pragma once

#include "llvm/ADT/DenseMap.h"

#include "passes/BatchPositions.h"

namespace lstmc::passes {

/// Puts `sym.all_rows` before every op that a part cannot do on its own rows, so that it is done on
/// the whole batch, and `sym.own_rows` after it, where its result has rows again. An op stays with
/// the part only if that is proved: rowByRow() says so, and on the types of every part the op
/// verifies.
class RowMarks {
public:
  /// `rows`: how many each part has.
  RowMarks(mlir::func::FuncOp net, llvm::ArrayRef<int64_t> rows);

  /// Where a part has its rows in a value of the net; none if it has what the whole batch has.
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

/// A part's own rows of a value that has those of the whole batch at `at`.
mlir::Value createOwnRows(mlir::OpBuilder &builder, mlir::Value value, sym::BatchPosition at);

/// The op's attribute of extents (ExtentsRule), if it has one, as its result has them; but one that
/// fits already, since it says them by what the op reads (0 and -1 of Reshape), stays so, which
/// leaves it right for a chunk of the steps too.
void sayExtents(mlir::Operation *op);

} // namespace lstmc::passes
