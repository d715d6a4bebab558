// How large what is planned may be, and how sizes are multiplied and added on the way there. The
// compiler refuses what is larger at the op, the runtime at load.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>

namespace lstmc {

/// Most elements of a tensor, and of a view with broadcast ones counted: sums and products of a few
/// such stay within 64 bits.
inline constexpr int64_t kMaxElements = int64_t(1) << 48;
/// Largest arena, for the same reason: 256 TiB.
inline constexpr uint64_t kMaxArenaBytes = uint64_t(1) << 48;

/// Product of numbers from 0 that stays at the greatest number where it would not fit. That is more
/// than any tensor may have, so who computes an extent in it needs no test: the tensor is refused.
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
