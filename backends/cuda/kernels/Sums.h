// Sums in the orders of docs/numerics.md: 16 lanes of a warp (rule 9), shards (rules 3 to 5).
#pragma once

#include "backends/cuda/kernels/Double.h"
#include "backends/cuda/kernels/Float.h"
#include "executor/abi/Packing.h"
#include "executor/abi/ShardLimits.h"

namespace lstmc::gpu {

inline constexpr int kLanes = 16;

LSTMC_DEVICE Float shuffleValue(Float x, int lane) { return {shuffle(x.v, lane)}; }
LSTMC_DEVICE Double shuffleValue(Double x, int lane) { return {shuffle(x.v, lane)}; }
template <typename T> LSTMC_DEVICE T shuffleValue(T x, int lane) { return shuffle(x, lane); }

/// Combines the values of lanes 0 to 15 of the warp by the tree; every thread gets the result. All
/// threads of the warp call it.
template <typename V, typename Join> LSTMC_DEVICE V joinLanes(V value, Join join) {
  for (int width = 1; width < kLanes; width *= 2) {
    V other = shuffleValue(value, laneIndex() ^ width);
    value = laneIndex() & width ? join(other, value) : join(value, other);
  }
  return shuffleValue(value, 0);
}

/// All 16 lanes begin at start; lane(e mod 16) = step(lane, e) for e ascending; then join combines
/// them. A warp does this together, and every thread gets the result.
template <typename V, typename Step, typename Join>
LSTMC_DEVICE V foldInLanes(int64_t count, V start, Step step, Join join) {
  V value = start;
  if (laneIndex() < kLanes)
    for (int64_t e = laneIndex(); e < count; e += kLanes)
      value = step(value, e);
  return joinLanes(value, join);
}

/// The sum of term(lane's sum so far, e), from +0.
template <typename V, typename Step> LSTMC_DEVICE V sumInLanes(int64_t count, Step step) {
  return foldInLanes(count, V{0}, step, [](V a, V b) { return a + b; });
}

/// a if a > b or a is NaN, else b. flushed() is needed on f32 too (Float::min).
template <typename V> LSTMC_DEVICE V larger(V a, V b) { return flushed(b < a || isNan(a) ? a : b); }
template <typename V> LSTMC_DEVICE V smaller(V a, V b) {
  return flushed(a < b || isNan(a) ? a : b);
}

/// Adds the sums of shards, which come in ascending order, by the tree; an empty shard is skipped.
template <typename V> class ShardSums {
public:
  LSTMC_DEVICE void add(V sum, bool present) {
    int level = 0;
    for (; count_ >> level & 1; ++level) {
      const bool left = present_ >> level & 1;
      sum = left && present ? stack_[level] + sum : left ? stack_[level] : sum;
      present |= left;
    }
    stack_[level] = sum;
    const uint64_t bit = uint64_t(1) << level;
    present_ = present ? present_ | bit : present_ & ~bit;
    ++count_;
  }

  /// +0 if no shard was present.
  LSTMC_DEVICE V finish() const {
    V sum = {0};
    bool present = false;
    for (int level = 0; level < kLevels; ++level)
      if (count_ >> level & 1 && present_ >> level & 1) {
        sum = present ? stack_[level] + sum : stack_[level];
        present = true;
      }
    return sum;
  }

private:
  static constexpr int kLevels = kShardLevels;

  uint64_t count_ = 0, present_ = 0;
  V stack_[kLevels]; ///< entry i holds a subtree of 2^i shards if bit i of count_ is set
};

/// Sum over the rows of a range of shards.
template <typename V, typename Sum>
LSTMC_DEVICE V sumOverShards(const ShardRange &range, Sum sumOfShard) {
  ShardSums<V> sums;
  for (int64_t j = 0; j < range.count; ++j) {
    const int64_t begin = range.begin(j), end = range.begin(j + 1);
    sums.add(begin == end ? V{0} : sumOfShard(begin, end), begin != end);
  }
  return sums.finish();
}

} // namespace lstmc::gpu
