// The outputs of a layer's steps, set side by side again.
#pragma once

#include "mlir/IR/Builders.h"

namespace lstmc::passes {

/// A concat or stack of one value per step, [N, H] each.
struct MergedSteps {
  mlir::Operation *op = nullptr;
  llvm::SmallVector<mlir::Operation *, 0> views; ///< that made the values' axis of steps
  bool reversed = false;                         ///< the last step is in front

  /// The same of the steps as one tensor y [T, N, H].
  mlir::Value build(mlir::OpBuilder &builder, mlir::Value y) const;
};

/// The ops that merge all of the values and nothing else, in the order of the values or the
/// reverse. `rows`: also those that set the values' rows one below the other, [T * N, H].
llvm::SmallVector<MergedSteps> mergesOf(llvm::ArrayRef<mlir::Value> values, bool rows);

} // namespace lstmc::passes
