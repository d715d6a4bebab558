// What ops on windows of images share: checks of their attributes, and padding.
#pragma once

#include "ir/sym/ShapeRelation.h"

namespace lstmc::sym {

/// Bounds of what is written out: a slice for each position of the kernel, a product for each
/// group.
inline constexpr int64_t kMostPositions = 10'000, kMostGroups = 1024;

/// Elements added along one axis.
struct Padding {
  int64_t before = 0, after = 0;
};

/// The number of that axis; `fallback` where the tuple is empty.
inline int64_t entryOf(llvm::ArrayRef<int64_t> tuple, size_t axis, int64_t fallback) {
  return tuple.empty() ? fallback : tuple[axis];
}

/// E0319 unless the tuple has `count` numbers from `least` to 2^31 - 1; it may be empty.
llvm::LogicalResult checkTuple(ShapeRelation &relation, llvm::ArrayRef<int64_t> tuple, size_t count,
                               int64_t least, llvm::StringRef name);
/// One to three extents of at least 1, and no more positions than are written out.
llvm::LogicalResult checkKernel(ShapeRelation &relation, llvm::ArrayRef<int64_t> kernel);
/// The layout, where it is given, is that of so many extents.
llvm::LogicalResult checkLayout(ShapeRelation &relation, llvm::StringRef layout, size_t extents);

/// `x` with padding along an axis: `mode` of Pad, and its number.
mlir::Value padded(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x, int64_t axis,
                   Padding padding, llvm::StringRef mode, double number);

} // namespace lstmc::sym
