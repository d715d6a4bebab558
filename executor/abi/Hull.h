// How far a view reaches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace lstmc {

/// The least and the greatest element that a view touches, as distances from its first.
struct Hull {
  int64_t low = 0, high = 0;
};

/// Of a view without an extent of 0; nothing where a distance leaves 63 bits.
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
