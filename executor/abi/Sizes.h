// Upper bounds of planned sizes, and sums and products of sizes that cannot wrap. The compiler
// refuses larger sizes at the op, the runtime at load.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>

namespace lstmc {

/// Most elements of a tensor, and of a view, broadcast elements included. Sums and products of a
/// few such numbers fit in 64 bits.
inline constexpr int64_t kMaxElements = int64_t(1) << 48;
/// Largest arena, bounded for the same reason: 256 TiB.
inline constexpr uint64_t kMaxArenaBytes = uint64_t(1) << 48;

/// Product of non-negative numbers that saturates at the greatest number. That is more than any
/// tensor may have, so code that computes an extent needs no overflow check: the tensor is refused.
constexpr int64_t product(std::span<const int64_t> numbers) {
  int64_t all = 1;
  for (int64_t number : numbers)
    if (__builtin_mul_overflow(all, number, &all))
      return std::numeric_limits<int64_t>::max();
  return all;
}
constexpr int64_t product(std::initializer_list<int64_t> numbers) {
  return product(std::span(numbers.begin(), numbers.size()));
}

/// The same for a sum.
constexpr int64_t sum(std::span<const int64_t> numbers) {
  int64_t all = 0;
  for (int64_t number : numbers)
    if (__builtin_add_overflow(all, number, &all))
      return std::numeric_limits<int64_t>::max();
  return all;
}
constexpr int64_t sum(std::initializer_list<int64_t> numbers) {
  return sum(std::span(numbers.begin(), numbers.size()));
}

} // namespace lstmc
