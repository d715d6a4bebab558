// Element windows of slice and slice_axis, for kernels and gradients.
#pragma once

#include "ir/sym/SymOps.h"

namespace lstmc::sym {

/// Elements begin, begin + step, ... of an axis, `size` of them.
struct Window {
  int64_t begin, size, step;
};

/// One window per axis of data with these extents.
llvm::SmallVector<Window> windowsOf(SliceOp op, llvm::ArrayRef<int64_t> extents);
/// The window of the sliced axis.
Window windowOf(SliceAxisOp op, int64_t extent);

} // namespace lstmc::sym
