// Checks that moving ops preserves the order in which gradients are summed.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

#include "passes/BatchPositions.h"

namespace lstmc::passes {

/// A planned move: ops to remove, the place of the op that replaces them, and ops to hoist to right
/// before that place.
struct Move {
  llvm::DenseSet<mlir::Operation *> leaving;
  mlir::Operation *place = nullptr;
  llvm::SetVector<mlir::Operation *> hoisted;
};

/// Contributions to a value's gradient are added last reader first (docs/numerics.md rules 4 and
/// 8).
class GradientOrder {
public:
  explicit GradientOrder(mlir::func::FuncOp net);

  /// Whether the net trains; without a loss head no sum depends on the order of ops.
  bool trains() const { return trains_; }
  /// Whether a gradient is propagated to the value.
  bool wants(mlir::Value value) const { return trained.contains(value); }
  /// Registers new values that are trained, and have the batch position, like `like`.
  void note(mlir::ValueRange values, mlir::Value like);
  sym::BatchPosition batch(mlir::Value value) const;

  /// Whether a value's gradient keeps its bits if the uses by leaving ops become one use at the
  /// place of the move, which sums them in the same order, or sums disjoint elements.
  bool keepsRun(mlir::Value value, const Move &move) const;
  /// The same, if they become uses that contribute one by one.
  bool keepsEach(mlir::Value value, const Move &move) const;
  /// The same, for all values that hoisted ops read.
  bool keepsHoisted(const Move &move) const;

private:
  bool staysOutside(mlir::Value value, const Move &move, bool before, bool after) const;

  bool trains_ = false;
  BatchPositions positions;
  llvm::DenseMap<mlir::Value, sym::BatchPosition> noted;
  llvm::DenseSet<mlir::Value> trained;
};

} // namespace lstmc::passes
