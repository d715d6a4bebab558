#include "passes/MixingOps.h"

#include "llvm/ADT/STLExtras.h"

#include "ir/sym/SymOps.h"

namespace lstmc::passes {

MixingOps::MixingOps(mlir::func::FuncOp entry, const BatchPositions &positions) {
  for (mlir::Operation &op : entry.front()) {
    bool after = reach(&op);
    llvm::SmallVector<sym::BatchPosition> rows;
    for (mlir::Value operand : op.getOperands())
      rows.push_back(positions.of(operand));
    bool hasRows = llvm::any_of(rows, [](sym::BatchPosition row) { return bool(row); });
    // own_rows of a replicated value yields a part's rows, and all_rows does nothing if all rows
    // are present.
    bool gathers =
        llvm::isa<sym::AllRowsOp>(op) && op.getOperand(0).getType() != op.getResult(0).getType();
    bool byRow =
        llvm::isa<sym::OwnRowsOp, sym::AllRowsOp>(op) ? !gathers : bool(rowByRow(&op, rows));
    bool mixes = after || (hasRows && !byRow);
    for (mlir::Value result : op.getResults())
      if (mixes || (hasRows && !positions.of(result)))
        mixed.insert(result);
  }
}

bool MixingOps::has(mlir::Operation *op) const {
  return llvm::any_of(op->getResults(), [&](mlir::Value value) { return mixed.contains(value); });
}

bool MixingOps::reach(mlir::Operation *op) const {
  return llvm::any_of(op->getOperands(), [&](mlir::Value value) { return mixed.contains(value); });
}

} // namespace lstmc::passes
