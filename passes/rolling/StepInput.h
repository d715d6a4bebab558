// The inputs of an unrolled layer's steps, as one tensor.
#pragma once

#include <optional>

#include "mlir/IR/Builders.h"

namespace lstmc::passes {

/// Consecutive windows of one tensor along an axis, from SliceChannel, slice_axis or a loop over
/// `data[t]`, in any shape that they are read in.
struct StepSlices {
  mlir::Value source; ///< [T, N, I], [N, T, I] or [N, T * I]
  int64_t axis = 0, first = 0, steps = 0, width = 0;
  bool reversed = false; ///< the first step reads the last window
  /// Per step, the ops from the slice to the value that the step reads.
  llvm::SmallVector<llvm::SmallVector<mlir::Operation *, 2>> makers;

  /// Builds the tensor [T, N, I] with its steps in the order in which they are read.
  mlir::Value build(mlir::OpBuilder &builder, mlir::Location loc, int64_t rows) const;
};

/// The slices that the values [N, ...] are, read as matrices [N, I]; nullopt if they are not slices
/// of one tensor.
std::optional<StepSlices> slicesOf(llvm::ArrayRef<mlir::Value> values);

/// The extents [N, I] of a value [N, ...] read as a matrix.
std::pair<int64_t, int64_t> matrixOf(mlir::Value value);

} // namespace lstmc::passes
