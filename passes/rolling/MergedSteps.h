// Ops that merge the outputs of a layer's steps into one tensor.
#pragma once

#include "mlir/IR/Builders.h"

namespace lstmc::passes {

/// A concat or stack of one value [N, H] per step.
struct MergedSteps {
  mlir::Operation *op = nullptr;
  llvm::SmallVector<mlir::Operation *, 0>
      views;             ///< the reshapes that add a time axis to the values
  bool reversed = false; ///< the last step comes first
  bool rows = false;     ///< the steps lie one after the other along the rows, [T * N, H]

  /// Builds the same result from all steps as one tensor y [T, N, H].
  mlir::Value build(mlir::OpBuilder &builder, mlir::Value y) const;
};

/// The ops that merge exactly these values, in ascending or descending order.
llvm::SmallVector<MergedSteps> mergesOf(llvm::ArrayRef<mlir::Value> values);

} // namespace lstmc::passes
