// The elements of a tensor, wherever they lie.
#pragma once

#include <array>
#include <cstdint>

#include "executor/base/Tensor.h"

namespace lstmc::session {

/// Calls f(offset, index) for every element, row-major, until it returns false. The offset counts
/// elements from the tensor's data on.
template <typename F> void forEachElement(const Tensor &tensor, F f) {
  std::array<int64_t, kMaxRank> index{};
  for (int64_t left = tensor.elements(); left > 0; --left) {
    int64_t offset = 0;
    for (size_t axis = 0; axis < size_t(tensor.rank); ++axis)
      offset += index[axis] * tensor.strides[axis];
    if (!f(offset, index))
      return;
    for (size_t axis = size_t(tensor.rank); axis-- > 0;) {
      if (++index[axis] < tensor.shape[axis])
        break;
      index[axis] = 0;
    }
  }
}

} // namespace lstmc::session
