// The part of a larger tensor that a launch computes. Random numbers are drawn by an element's
// index in the whole tensor, so a part gets the same numbers as the whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace lstmc {

/// Row-major over the pairs (extent, stride): the element with coordinates i_d is element offset +
/// sum(i_d * stride_d) of the whole. Stored as a list: offset, extent, stride, extent, stride, ...
struct ElementWindow {
  int64_t offset = 0;
  std::span<const int64_t> pairs; ///< empty: the elements are consecutive

  /// From a list that is empty or has an odd number of entries.
  static ElementWindow of(std::span<const int64_t> list) {
    return list.empty() ? ElementWindow() : ElementWindow{list[0], list.subspan(1)};
  }

  size_t rank() const { return pairs.size() / 2; }
  int64_t extent(size_t axis) const { return pairs[2 * axis]; }
  int64_t stride(size_t axis) const { return pairs[2 * axis + 1]; }

  /// The index in the whole of the launch's element number `element`.
  int64_t at(int64_t element) const {
    int64_t index = offset;
    for (size_t axis = rank(); axis-- > 0; element /= extent(axis))
      index += element % extent(axis) * stride(axis);
    return index + (rank() == 0 ? element : 0);
  }

  /// Number of elements in a window, and their greatest index in the whole. Nothing if a number is
  /// negative, an extent is too small, or a result is above `limit`.
  struct Size {
    int64_t elements, last;
  };
  std::optional<Size> size(int64_t limit) const {
    if (offset < 0 || offset > limit)
      return std::nullopt;
    Size size{1, offset};
    for (size_t axis = 0; axis < rank(); ++axis) {
      if (extent(axis) < 1 || extent(axis) > limit / size.elements || stride(axis) < 0)
        return std::nullopt;
      size.elements *= extent(axis);
      if (extent(axis) > 1 && stride(axis) > (limit - size.last) / (extent(axis) - 1))
        return std::nullopt;
      size.last += (extent(axis) - 1) * stride(axis);
    }
    return size;
  }
};

} // namespace lstmc
