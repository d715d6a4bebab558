// Reductions of rows in 16 lanes, which softmax, losses and metrics share.
#pragma once

#include <array>
#include <limits>
#include <span>

#include "executor/base/ScalarSemantics.h"
#include "executor/base/Tree.h"
#include "executor/device/StopFlag.h"

namespace lstmc::reference {

/// All 16 lanes begin at start; lane(e mod 16) = step(lane, x(e)) for e ascending; then join
/// combines the lanes by the tree.
template <typename T, typename X, typename Step, typename Join>
T foldInLanes(int64_t count, T start, X x, Step step, Join join) {
  std::array<T, kLanes> lanes;
  lanes.fill(start);
  for (int64_t e = 0; e < count && !stopAsked(); ++e)
    lanes[e % kLanes] = step(lanes[e % kLanes], x(e));
  return combineTree(std::span<const T>(lanes), start, join);
}

/// The largest of x(0) ... x(count - 1), or NaN if one of them is NaN; -infinity (or the least
/// integer) if there are none.
template <typename T, typename X> T maximumInLanes(int64_t count, X x) {
  using Limits = std::numeric_limits<T>;
  return foldInLanes(count, Limits::has_infinity ? -Limits::infinity() : Limits::lowest(), x,
                     scalar::maximum<T>, scalar::maximum<T>);
}

/// Index of the first of the largest elements; NaN counts as larger than all numbers.
template <typename X> int64_t firstMaximum(int64_t count, X x) {
  int64_t best = 0;
  for (int64_t e = 1; e < count; ++e)
    if (x(best) == x(best) && (x(e) > x(best) || x(e) != x(e)))
      best = e;
  return best;
}

/// The terms of softmax and its logarithm: the largest element m, and the sum of exp((x - m) /
/// temperature).
template <typename Real, typename X> struct SoftmaxRow {
  SoftmaxRow(int64_t count, Real temperature, X x)
      : x(x), temperature(temperature), largest(maximumInLanes<Real>(count, x)),
        sum(sumInLanes<Real>(
            count, [&](int64_t e, Real lane) { return lane + scalar::exponential(scaled(e)); })) {}

  Real scaled(int64_t e) const { return (x(e) - largest) / temperature; }
  Real probability(int64_t e) const { return scalar::exponential(scaled(e)) / sum; }
  Real logProbability(int64_t e) const { return scaled(e) - scalar::logarithm(sum); }

  X x;
  Real temperature, largest, sum;
};

} // namespace lstmc::reference
