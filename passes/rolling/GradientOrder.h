// Whether gradients are still added in the order of the net as written, when ops move.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

#include "passes/BatchPositions.h"

namespace lstmc::passes {

/// Ops that are to go, a place where one op is to stand for all of them, and ops that move to right
/// before that place.
struct Move {
  llvm::DenseSet<mlir::Operation *> leaving;
  mlir::Operation *place = nullptr;
  llvm::SetVector<mlir::Operation *> hoisted;
};

/// Contributions to a value are added last reader first (docs/numerics.md rules 4 and 8).
class GradientOrder {
public:
  explicit GradientOrder(mlir::func::FuncOp net);

  /// Whether the net trains at all: without a loss no sum depends on the order of ops.
  bool trains() const { return trains_; }
  /// Whether a gradient flows to the value.
  bool wants(mlir::Value value) const { return trained.contains(value); }
  /// New values like `like`: they are trained, and have their rows where it has them.
  void note(mlir::ValueRange values, mlir::Value like);
  sym::BatchPosition batch(mlir::Value value) const;

  /// Whether the gradient of a value keeps its bits when the uses by ops that leave become one use
  /// at the place of the move, and are one sum there in the same order, or of other elements each.
  bool keepsRun(mlir::Value value, const Move &move) const;
  /// The same where they become uses that contribute one by one.
  bool keepsEach(mlir::Value value, const Move &move) const;
  /// The same of the values that hoisted ops read.
  bool keepsHoisted(const Move &move) const;

private:
  bool staysOutside(mlir::Value value, const Move &move, bool before, bool after) const;

  bool trains_ = false;
  BatchPositions positions;
  llvm::DenseMap<mlir::Value, sym::BatchPosition> noted;
  llvm::DenseSet<mlir::Value> trained;
};

} // namespace lstmc::passes
