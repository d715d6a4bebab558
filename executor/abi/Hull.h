// The range of elements that a view touches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace lstmc {

/// The lowest and the highest element that a view touches, relative to its first element.
struct Hull {
  int64_t low = 0, high = 0;
};

/// For a view without an extent of 0; nothing if a distance does not fit in 63 bits.
constexpr std::optional<Hull> hullOf(std::span<const int64_t> shape,
                                     std::span<const int64_t> strides) {
  Hull hull;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    int64_t reach = 0;
    if (__builtin_mul_overflow(shape[axis] - 1, strides[axis], &reach))
      return std::nullopt;
    int64_t &end = reach < 0 ? hull.low : hull.high;
    if (__builtin_add_overflow(end, reach, &end))
      return std::nullopt;
  }
  return hull;
}

} // namespace lstmc
