// Operands with indices as in the records of Kernels.def: x(t, b, i).
#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <type_traits>

#include "executor/abi/Packing.h"
#include "executor/base/Numeric.h"
#include "executor/base/Tensor.h"

namespace lstmc::reference {

/// Offset of element (i, j, ...) of a tensor, in elements from its data.
template <typename... Index> int64_t offsetOf(const Tensor &tensor, Index... index) {
  assert(!tensor || tensor.rank == int(sizeof...(Index)));
  int64_t offset = 0;
  int axis = 0;
  ((offset += tensor.strides[axis++] * int64_t(index)), ...);
  return offset;
}

/// A strided operand of element type T; converts to false if the operand is absent.
template <typename T> class View {
public:
  explicit View(const Tensor &tensor) : tensor_(tensor) {}

  explicit operator bool() const { return bool(tensor_); }
  int64_t extent(int axis) const { return tensor_.shape[axis]; }
  template <typename... Index> T &operator()(Index... index) const {
    return tensor_.as<T>()[offsetOf(tensor_, index...)];
  }

private:
  const Tensor &tensor_;
};

/// First element of a dense operand.
template <typename T> T *elementsOf(const Tensor &tensor) { return tensor.as<T>(); }

/// A packed [N, K] matrix (abi/Packing.h).
template <typename T> class Packed {
public:
  Packed(T *data, int64_t n, int64_t k, int64_t gates)
      : data_(data), k_(k), gates_(gates == 0 ? 1 : gates), units_(n / gates_) {}

  T &operator()(int64_t n, int64_t k) const {
    int64_t gate = n / units_, unit = n % units_;
    return data_[((unit / kPanel * k_ + k) * gates_ + gate) * kPanel + unit % kPanel];
  }

private:
  T *data_;
  int64_t k_, gates_, units_;
};

/// An index or a length: an integer, or a truncated float; NaN is 0.
template <typename... Index> int64_t indexAt(const Tensor &tensor, Index... index) {
  return readElement<int64_t>(tensor.data, tensor.dtype, offsetOf(tensor, index...));
}

/// Index into an axis of `extent` > 0 elements: modulo the extent, or the nearest valid index.
inline int64_t inside(int64_t index, int64_t extent, bool wrap) {
  if (wrap)
    return (index % extent + extent) % extent;
  return index < 0 ? 0 : index >= extent ? extent - 1 : index;
}

/// Calls f(T()) for the float type of the operand, f32 or f64.
template <typename F> void withFloat(const Tensor &operand, F &&f) {
  if (operand.dtype == DType::F64)
    f(double());
  else
    f(float());
}

/// Calls f(T()) with an unsigned integer type of the operand's element size, for kernels that only
/// move elements.
template <typename F> void withBytes(const Tensor &operand, F &&f) {
  switch (dtypeBytes(operand.dtype)) {
  case 1:
    return f(uint8_t());
  case 2:
    return f(uint16_t());
  case 4:
    return f(uint32_t());
  default:
    return f(uint64_t());
  }
}

/// Calls f(index) for every index of the shape's first `rank` axes, row-major.
template <typename F> void forEachIndex(const Tensor &shape, int rank, F &&f) {
  std::array<int64_t, kMaxRank> index{};
  for (int i = 0; i < rank; ++i)
    if (shape.shape[i] == 0)
      return;
  while (true) {
    f(index);
    int axis = rank - 1;
    while (axis >= 0 && ++index[axis] == shape.shape[axis])
      index[axis--] = 0;
    if (axis < 0)
      return;
  }
}

/// Offset of the element with this index, which covers all axes of the tensor.
inline int64_t offsetAt(const Tensor &tensor, const std::array<int64_t, kMaxRank> &index) {
  int64_t offset = 0;
  for (int i = 0; i < tensor.rank; ++i)
    offset += tensor.strides[i] * index[i];
  return offset;
}

} // namespace lstmc::reference
