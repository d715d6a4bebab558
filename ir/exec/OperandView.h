// A strided window on a buffer, and how launches store a list of them.
#pragma once

#include <cstdint>

#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include "executor/abi/DType.h"

namespace lstmc::exec {

/// An operand of a launch: element [i...] is at offset + sum(i * strides). Absent if `buffer` is
/// null.
struct OperandView {
  mlir::Value buffer;
  int64_t offset = 0;
  llvm::SmallVector<int64_t, 6> shape;
  llvm::SmallVector<int64_t, 6> strides;
  bool whole = false; ///< the view has the buffer's own shape and is dense

  explicit operator bool() const { return bool(buffer); }
  /// Elements between the first and the last that the view touches, both included; [low, high).
  std::pair<int64_t, int64_t> hull() const;
  bool sameWindow(const OperandView &other) const {
    return offset == other.offset && shape == other.shape && strides == other.strides;
  }
};

/// Appends a view to the flat list of integers that a launch stores: -1 (absent), 0 (whole), or
/// rank + 1, offset, shape, strides.
void encodeView(const OperandView &view, llvm::SmallVectorImpl<int64_t> &list);

/// Row-major strides.
llvm::SmallVector<int64_t, 6> denseStrides(llvm::ArrayRef<int64_t> shape);

/// The DType of a buffer's elements; asserts that it is one of abi/DType.h.
DType dtypeOf(mlir::Type element);
mlir::Type typeOf(DType dtype, mlir::MLIRContext *context);

} // namespace lstmc::exec
