// Which values of an entry are not made of one row of the batch at a time.
#pragma once

#include "llvm/ADT/DenseSet.h"

#include "passes/BatchPositions.h"

namespace lstmc::passes {

/// Ops that read rows and give something that is none (a mean over the batch, a matrix of all pairs
/// of rows), and everything that follows from them.
class MixingOps {
public:
  MixingOps(mlir::func::FuncOp entry, const BatchPositions &positions);

  /// Whether what an op reads depends on rows other than its own.
  bool reach(mlir::Operation *op) const;
  /// Whether it is one of them.
  bool has(mlir::Operation *op) const;

private:
  llvm::DenseSet<mlir::Value> mixed;
};

} // namespace lstmc::passes
