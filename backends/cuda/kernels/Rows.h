// Rows that a warp works on together.
#pragma once

#include "backends/cuda/kernels/Elements.h"

namespace lstmc::gpu {

/// Number of elements of row r that are used.
LSTMC_DEVICE int64_t countOf(const Operand &length, int64_t r, int64_t columns) {
  if (!length.data)
    return columns;
  const int64_t count = indexAt(length, at(length, r));
  return count < 0 ? 0 : count < columns ? count : columns;
}

/// The largest of x(0) ... x(count - 1), or NaN if one of them is; -infinity if there are none.
template <typename V, typename X> LSTMC_DEVICE V maximumOf(int64_t count, X x) {
  return foldInLanes(
      count, V{typename V::Stored(-INFINITY)},
      [&](V lane, int64_t e) { return larger(lane, x(e)); }, [](V a, V b) { return larger(a, b); });
}

/// The terms of softmax and its logarithm: the largest element m, and the sum of exp((x - m) /
/// temperature).
template <typename V, typename X> struct SoftmaxRow {
  X x;
  V temperature, largest, sum;

  LSTMC_DEVICE SoftmaxRow(int64_t count, V temperature, X x)
      : x(x), temperature(temperature), largest(maximumOf<V>(count, x)),
        sum(sumInLanes<V>(count,
                          [&](V lane, int64_t e) { return lane + exponential(scaled(e)); })) {}

  LSTMC_DEVICE V scaled(int64_t e) const { return (x(e) - largest) / temperature; }
  LSTMC_DEVICE V probability(int64_t e) const { return exponential(scaled(e)) / sum; }
  LSTMC_DEVICE V logProbability(int64_t e) const { return scaled(e) - logarithm(sum); }
};

/// An element and its index; of equal ones the first counts, and NaN is larger than all numbers.
template <typename T> struct Indexed {
  T value;
  int64_t index; ///< -1: none
};
template <typename T> LSTMC_DEVICE Indexed<T> firstLarger(Indexed<T> a, Indexed<T> b) {
  if (a.index < 0 || b.index < 0)
    return a.index < 0 ? b : a;
  const bool aNan = a.value != a.value, bNan = b.value != b.value;
  const bool aFirst = aNan || bNan ? aNan && (!bNan || a.index < b.index)
                                   : a.value > b.value || (a.value == b.value && a.index < b.index);
  return aFirst ? a : b;
}

/// Index of the first of the largest elements; 0 if there are none. x(e) is a T.
template <typename T, typename X> LSTMC_DEVICE int64_t firstMaximumOf(int64_t count, X x) {
  Indexed<T> best = {0, -1};
  for (int64_t e = laneIndex(); e < count; e += kWarp)
    best = firstLarger(best, {x(e), e});
  for (int width = 1; width < kWarp; width *= 2)
    best = firstLarger(best, {shuffleXor(best.value, width), shuffleXor(best.index, width)});
  return best.index < 0 ? 0 : best.index;
}

} // namespace lstmc::gpu
