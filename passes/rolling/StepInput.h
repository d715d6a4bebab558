// What the steps of a written-out layer read, as one tensor.
#pragma once

#include <optional>

#include "mlir/IR/Builders.h"

namespace lstmc::passes {

/// Windows of one tensor, one after the other along an axis: what SliceChannel, slice_axis and a
/// loop over `data[t]` give, whatever shapes they are read in.
struct StepSlices {
  mlir::Value source; ///< [T, N, I], [N, T, I] or [N, T * I]
  int64_t axis = 0, first = 0, steps = 0, width = 0;
  bool reversed = false; ///< the first step reads the last window
  /// Per step the ops from the slice to what is read.
  llvm::SmallVector<llvm::SmallVector<mlir::Operation *, 2>> makers;

  /// The tensor as [T, N, I], with its steps in the order in which they are read.
  mlir::Value build(mlir::OpBuilder &builder, mlir::Location loc, int64_t rows) const;
};

/// The slices that values [N, ...] are, read as matrices [N, I], if they are of one tensor.
std::optional<StepSlices> slicesOf(llvm::ArrayRef<mlir::Value> values);

/// [N, I] of a value [N, ...].
std::pair<int64_t, int64_t> matrixOf(mlir::Value value);

} // namespace lstmc::passes
