// Ops that reduce or mix across the batch axis, and the values that depend on them.
#pragma once

#include "llvm/ADT/DenseSet.h"

#include "passes/BatchPositions.h"

namespace lstmc::passes {

/// Ops that read rows and whose result has no rows (a mean over the batch, a matrix of all pairs of
/// rows), and all values computed from their results.
class MixingOps {
public:
  MixingOps(mlir::func::FuncOp entry, const BatchPositions &positions);

  /// Whether an operand of `op` depends on rows other than its own.
  bool reach(mlir::Operation *op) const;
  /// Whether `op` itself mixes rows.
  bool has(mlir::Operation *op) const;

private:
  llvm::DenseSet<mlir::Value> mixed;
};

} // namespace lstmc::passes
