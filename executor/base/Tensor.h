// A view of typed memory, the type of every kernel operand.
#pragma once

#include <array>
#include <cassert>
#include <cstdint>

#include "executor/abi/DType.h"

namespace lstmc {

inline constexpr int kMaxRank = 16;

/// Memory that somebody else owns, with shape and strides. Strides count elements and may be 0
/// (broadcast) or negative (reversed); `data` points at element [0, ..., 0].
struct Tensor {
  void *data = nullptr;
  DType dtype = DType::F32;
  int rank = 0;
  std::array<int64_t, kMaxRank> shape{};
  std::array<int64_t, kMaxRank> strides{};

  /// False for an optional operand that is absent.
  explicit operator bool() const { return data != nullptr; }

  int64_t elements() const {
    int64_t n = 1;
    for (int i = 0; i < rank; ++i)
      n *= shape[i];
    return n;
  }
  /// Row-major without gaps.
  bool dense() const {
    int64_t step = 1;
    for (int i = rank - 1; i >= 0; --i) {
      if (shape[i] != 1 && strides[i] != step)
        return false;
      step *= shape[i];
    }
    return true;
  }
  template <typename T> T *as() const { return static_cast<T *>(data); }
};

} // namespace lstmc
