// Interface of an op's kernel rule: views of its operands and results, and creation of launches.
#pragma once

#include <cstdint>
#include <optional>

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include "executor/abi/DType.h"
#include "executor/abi/KernelArguments.h"

namespace lstmc::sym {

/// A strided window on memory; absent if `value` is null.
struct View {
  mlir::Value value;  ///< the buffer
  int64_t offset = 0; ///< elements
  llvm::SmallVector<int64_t, 6> shape;
  llvm::SmallVector<int64_t, 6> strides; ///< elements; 0 broadcasts, negative reverses
  DType dtype = DType::F32;

  explicit operator bool() const { return bool(value); }
  int64_t rank() const { return int64_t(shape.size()); }
  int64_t elements() const;

  /// The same elements in row-major order in another shape; nothing if no strides can express it.
  std::optional<View> tryReshape(llvm::ArrayRef<int64_t> shape) const;
  /// The same; asserts that strides can express it.
  View reshape(llvm::ArrayRef<int64_t> shape) const;
  /// Axis i of the result is axis permutation[i].
  View transpose(llvm::ArrayRef<int64_t> permutation) const;
  /// Elements begin, begin + step, ... (`size` of them) of an axis; step may be negative.
  View slice(int64_t axis, int64_t begin, int64_t size, int64_t step = 1) const;
  /// Extents of 1 stretch and leading axes are added, both with stride 0.
  View broadcastTo(llvm::ArrayRef<int64_t> shape) const;
  /// Moves `axis` to the end.
  View moveLast(int64_t axis) const;
  bool dense() const;
  /// The last stride or the last extent is 1.
  bool isRows() const { return shape.empty() || shape.back() == 1 || strides.back() == 1; }
};

/// Collects the launches of one op, in order.
class KernelBuilder {
public:
  virtual ~KernelBuilder() = default;

  /// An operand or a result of the op being lowered, where it lies in memory: dense, or a strided
  /// window of another value's buffer.
  virtual View view(mlir::Value value) = 0;
  /// The same; absent if `value` is null or a result without readers.
  View viewOrAbsent(mlir::Value value);
  View absent() const { return {}; }

  /// A dense temporary that lives for this op only.
  virtual View temporary(llvm::ArrayRef<int64_t> shape, DType dtype) = 0;
  /// Scratch memory for a kernel: u8 [bytes].
  virtual View scratch(int64_t bytes) = 0;
  /// Bytes of scratch that a library of the device wants for a product with `weight` [A, N, K] or
  /// [N, K]; 0 if none carries it out.
  virtual int64_t libraryBytes(const View &) { return 0; }
  /// Bytes of scratch that a library of the device wants for a recurrent layer x [T, B, I] ->
  /// y [T, B, H] that keeps nothing for backward and reads no lengths; 0 if none carries it out.
  virtual int64_t libraryBytes(const RnnForwardArguments &, const View & /*x*/,
                               const View & /*y*/) {
    return 0;
  }
  /// A dense copy; equal views share one copy.
  virtual View denseCopy(View view) = 0;
  /// The elements of a view in another shape; copied only if no strides can express it.
  View reshaped(View view, llvm::ArrayRef<int64_t> shape);
  /// The elements of a view with last stride 1: the view itself, or a dense copy.
  View rows(View view) { return view.isRows() ? view : denseCopy(view); }
  /// A view of this shape, with last stride 1, for results that end up in `target` in row-major
  /// order: target itself, or a temporary that is copied to it after the launches of the op.
  virtual View output(View target, llvm::ArrayRef<int64_t> shape) = 0;

  /// `weight` [A, N, K] or [N, K] in the panel order of abi/Packing.h. Equal views of one value are
  /// packed once. A parameter that the entry does not change is packed once per change of the
  /// weights, in the prepare entry.
  virtual View packed(View weight, int64_t gates) = 0;

  virtual void launch(KernelId kernel, llvm::ArrayRef<View> operands,
                      llvm::ArrayRef<int64_t> ints = {}, llvm::ArrayRef<double> floats = {}) = 0;
  /// Adds a launch of the kernel with these arguments: launch(GatherArguments{.mode =
  /// IndexMode::Wrap}, {w, i, y}).
  template <typename Arguments>
  void launch(const Arguments &arguments, llvm::ArrayRef<View> operands) {
    WireArguments wire = wireArguments(arguments);
    launch(Arguments::kKernel, operands, wire.ints, wire.floats);
  }
  void copy(View from, View to) { launch(KernelId::Copy, {from, to}); }

  /// The result is the memory of an operand under another view. Needs no launch if the plan can
  /// place it so, else a copy.
  virtual void alias(mlir::Value result, View of) = 0;
};

} // namespace lstmc::sym
