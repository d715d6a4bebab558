// What an op's kernel rule is given: views of its operands and results, and launches.
#pragma once

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

#include "executor/abi/DType.h"
#include "executor/abi/Kernels.h"

namespace lstmc::sym {

/// A strided window on what a value will be in memory. Absent when `value` is null.
struct View {
  mlir::Value value;  ///< a sym value, or a temporary of the builder
  int64_t offset = 0; ///< elements
  llvm::SmallVector<int64_t, 6> shape;
  llvm::SmallVector<int64_t, 6> strides; ///< elements; 0 broadcasts, negative reverses
  DType dtype = DType::F32;

  explicit operator bool() const { return bool(value); }

  /// The same elements in another shape; the view must be dense enough for it (asserted).
  View reshape(llvm::ArrayRef<int64_t> shape) const;
  View transpose(llvm::ArrayRef<int64_t> permutation) const;
  /// Elements begin, begin + step, ... (`size` of them) of an axis; step may be negative.
  View slice(int64_t axis, int64_t begin, int64_t size, int64_t step = 1) const;
  /// An axis of extent 1, or a new one in front, becomes `extent` with stride 0.
  View broadcastTo(llvm::ArrayRef<int64_t> shape) const;
  bool dense() const;
};

/// Collects the launches of one op, in order.
class KernelBuilder {
public:
  virtual ~KernelBuilder() = default;

  /// Dense view of an operand or a result of the op being lowered.
  virtual View view(mlir::Value value) = 0;
  View absent() const { return {}; }

  /// A dense temporary that lives for this op only.
  virtual View temporary(llvm::ArrayRef<int64_t> shape, DType dtype) = 0;
  /// Scratch of a kernel, in bytes (u8 [bytes]).
  virtual View scratch(int64_t bytes) = 0;
  /// The view itself if its last stride is 1 (or its last extent), else a dense copy of it.
  virtual View rows(View view) = 0;
  virtual View denseCopy(View view) = 0;
  /// `weight` [A, N, K] or [N, K] in the panel order of abi/Packing.h. Equal views of one value are packed once, and where
  /// the value is a parameter in an entry that does not change it, once per change of the weights (prepare entry).
  virtual View packed(View weight, int64_t gates) = 0;

  virtual void launch(KernelId kernel, llvm::ArrayRef<View> operands, llvm::ArrayRef<int64_t> ints = {},
                      llvm::ArrayRef<double> floats = {}) = 0;
  void copy(View from, View to) { launch(KernelId::Copy, {from, to}); }

  /// Says that a result is its operand's memory, reshaped: no launch at all where the plan allows it, else a copy.
  virtual void alias(mlir::Value result, View of) = 0;
};

} // namespace lstmc::sym
