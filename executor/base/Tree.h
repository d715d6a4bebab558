// The fixed binary tree by which sums over shards and over lanes are added: docs/numerics.md rule
// 5.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>

#include "executor/abi/Packing.h"

namespace lstmc {

/// Number of lanes of partial sums: element e belongs to lane e mod 16 (docs/numerics.md rule 9).
inline constexpr int kLanes = 16;

struct Plus {
  template <typename T> T operator()(T a, T b) const { return a + b; }
};

/// Combines leaves that come in ascending order. The left child of a tree over n leaves has the
/// largest power of two below n. An absent leaf is skipped: its sibling moves up unchanged. Keeps
/// at most treeLevels(n) partial results.
///
/// Works like a binary counter: two subtrees with equally many leaves (absent ones counted) are
/// combined at once. At the end, the rest are combined from the right, which gives the shape above
/// for every n.
template <typename T, typename Combine = Plus> class TreeFold {
public:
  explicit TreeFold(Combine combine = {}) : combine_(combine) {}

  void add(T leaf) { push({std::move(leaf), true}); }
  void skip() { push({T(), false}); }

  /// The root; `none` if no leaf was present.
  T finish(T none = T(0)) const {
    Partial root{none, false};
    for (int level = 0; level < kLevels; ++level)
      if (count_ >> level & 1)
        root = join(stack_[level], root);
    return root.value;
  }

private:
  static constexpr int kLevels = 64;
  struct Partial {
    T value;
    bool present;
  };

  Partial join(const Partial &left, const Partial &right) const {
    if (!right.present)
      return left.present ? left : right;
    return left.present ? Partial{combine_(left.value, right.value), true} : right;
  }
  void push(Partial leaf) {
    int level = 0;
    for (; count_ >> level & 1; ++level)
      leaf = join(stack_[level], leaf);
    stack_[level] = std::move(leaf);
    ++count_;
  }

  Combine combine_;
  uint64_t count_ = 0;
  std::array<Partial, kLevels>
      stack_; // entry i holds a subtree of 2^i leaves if bit i of count_ is set
};

/// The tree over leaves that are all present; `none` if there are no leaves.
template <typename T, typename Combine = Plus>
T combineTree(std::span<const T> leaves, T none = T(0), Combine combine = {}) {
  if (leaves.empty())
    return none;
  if (leaves.size() == 1)
    return leaves[0];
  size_t left = std::bit_floor(leaves.size() - 1);
  return combine(combineTree(leaves.first(left), none, combine),
                 combineTree(leaves.subspan(left), none, combine));
}

/// Sum over the rows of a range of shards: `sumOfShard(begin, end)` for each shard that is not
/// empty, then the tree over the range.
template <typename T, typename F> T sumOverShards(const ShardRange &range, F sumOfShard) {
  TreeFold<T> fold;
  for (int64_t j = 0; j < range.count; ++j) {
    int64_t begin = range.begin(j), end = range.begin(j + 1);
    if (begin == end)
      fold.skip();
    else
      fold.add(sumOfShard(begin, end));
  }
  return fold.finish();
}

/// Sum of `count` terms in 16 lanes from +0: term(e, lane) gives the new value of the lane of
/// element e.
template <typename T, typename F> T sumInLanes(int64_t count, F term) {
  std::array<T, kLanes> lanes{};
  for (int64_t e = 0; e < count; ++e)
    lanes[e % kLanes] = term(e, lanes[e % kLanes]);
  return combineTree(std::span<const T>(lanes));
}

} // namespace lstmc
