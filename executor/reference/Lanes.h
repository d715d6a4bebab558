// Reductions of rows in 16 lanes, as softmax, losses and metrics share them.
#pragma once

#include <array>
#include <limits>
#include <span>

#include "executor/base/ScalarSemantics.h"
#include "executor/base/Tree.h"

namespace lstmc::reference {

/// start, start, ... in 16 lanes; lane(e mod 16) = step(lane, x(e)) for e ascending; then the tree
/// of join.
template <typename T, typename X, typename Step, typename Join>
T foldInLanes(int64_t count, T start, X x, Step step, Join join) {
  std::array<T, kLanes> lanes;
  lanes.fill(start);
  for (int64_t e = 0; e < count; ++e)
    lanes[e % kLanes] = step(lanes[e % kLanes], x(e));
  return combineTree(std::span<const T>(lanes), start, join);
}

/// The largest of x(0) ... x(count - 1), or NaN if one is; -infinity (or the least integer) for
/// none.
template <typename T, typename X> T maximumInLanes(int64_t count, X x) {
  using Limits = std::numeric_limits<T>;
  return foldInLanes(count, Limits::has_infinity ? -Limits::infinity() : Limits::lowest(), x,
                     scalar::maximum<T>, scalar::maximum<T>);
}

/// The first of the largest elements; a NaN counts as larger than all.
template <typename X> int64_t firstMaximum(int64_t count, X x) {
  int64_t best = 0;
  for (int64_t e = 1; e < count; ++e)
    if (x(best) == x(best) && (x(e) > x(best) || x(e) != x(e)))
      best = e;
  return best;
}

/// What softmax and its logarithm are made of: largest element m, and sum of exp((x - m) /
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
