// Helpers that visit a batch element by element.
#pragma once

#include <array>
#include <cmath>

#include "executor/base/Numeric.h"
#include "executor/base/Tensor.h"

namespace lstmc::data {

/// Whether `dtype` can represent `value`: integers need a whole number in range; floats take any
/// that stays finite.
inline bool representable(double value, DType dtype) {
  if (isFloat(dtype)) {
    alignas(double) std::array<std::byte, sizeof(double)> stored;
    writeElement(stored.data(), dtype, 0, value);
    return !std::isfinite(value) || std::isfinite(readElement<double>(stored.data(), dtype, 0));
  }
  return withType(dtype, [&](auto stored) {
    using Stored = decltype(stored);
    if constexpr (std::is_integral_v<Stored>)
      return value == std::floor(value) && value >= double(std::numeric_limits<Stored>::min()) &&
             value < double(std::numeric_limits<Stored>::max()) + 1.0;
    else
      return true;
  });
}

/// Visits the indices of all axes of `tensor` but `skipped`, row-major, and calls `f(number,
/// offset)` with a running number and the offset of the index in elements.
template <typename F> void eachIndexBut(const Tensor &tensor, int skipped, F &&f) {
  std::array<int64_t, kMaxRank> index{};
  int64_t offset = 0;
  for (int64_t number = 0;; ++number) {
    f(number, offset);
    int axis = tensor.rank - 1;
    for (; axis >= 0; --axis) {
      if (axis == skipped)
        continue;
      offset += tensor.strides[axis];
      if (++index[axis] < tensor.shape[axis])
        break;
      offset -= tensor.strides[axis] * tensor.shape[axis];
      index[axis] = 0;
    }
    if (axis < 0)
      return;
  }
}

} // namespace lstmc::data
