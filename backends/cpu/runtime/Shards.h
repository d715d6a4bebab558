// The order in which gradients of weights are summed (docs/numerics.md rules 3 to 5), applied to
// blocks of values.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "backends/cpu/runtime/Vector.h"
#include "executor/base/Tensor.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

/// Offset of row (o, b, q) of a value [O, B, Q, *], in elements.
inline int64_t rowOffset(const Tensor &x, int64_t o, int64_t b, int64_t q) {
  return o * x.strides[0] + b * x.strides[1] + q * x.strides[2];
}

/// Visits the rows of one use that are in rows [begin, end) of the batch: (o, q) descending, then b
/// ascending.
class ShardRows {
public:
  ShardRows(const Tensor &dy, int64_t begin, int64_t end)
      : begin_(begin), end_(end), o_(dy.shape[0] - 1), q_(dy.shape[2] - 1), lastQ_(q_), b_(begin),
        left_(dy.shape[0] * dy.shape[2] * (end - begin)) {}

  int64_t left() const { return left_; }
  int64_t o() const { return o_; }
  int64_t b() const { return b_; }
  int64_t q() const { return q_; }
  void next() {
    --left_;
    if (++b_ < end_)
      return;
    b_ = begin_;
    if (--q_ < 0) {
      q_ = lastQ_;
      --o_;
    }
  }

private:
  int64_t begin_, end_, o_, q_, lastQ_, b_, left_;
};

/// Adds blocks, one per shard in ascending order, by the tree of executor/base/Tree.h. For each
/// shard in this order, the caller fills leaf(), adds to it the blocks listed by merges(), and
/// calls fold(). For an empty shard it calls skip(). At most popcount + 1 blocks are in use at a
/// time.
template <typename Block, int MaxBlocks> class ShardFold {
public:
  /// `blocks`: at least blocksAlive() of them.
  ShardFold(Block *const *blocks, int count) : freeCount_(count) {
    std::copy_n(blocks, count, free_);
  }

  /// Most blocks in use at a time for `shards`, of which `present` are not empty.
  static int blocksAlive(int64_t shards, int64_t present) {
    int64_t alive = std::bit_width(uint64_t(shards));
    return int(alive < present ? alive : present > 0 ? present : 1);
  }

  Block *leaf() { return free_[freeCount_ - 1]; }
  /// The left siblings that are added to the next leaf, in order: leaf = block + leaf.
  int merges(Block **blocks) const {
    int count = 0;
    for (int level = 0; count_ >> level & 1; ++level)
      if (stack_[level])
        blocks[count++] = stack_[level];
    return count;
  }
  void fold() {
    push(free_[--freeCount_], [](Block *, Block *) {});
  }
  /// For an empty shard. Blocks to its left may become siblings; add(a, b) has to do b = a + b.
  template <typename Add> void skip(Add add) { push(nullptr, add); }

  /// The root, or null if all shards were empty.
  template <typename Add> Block *finish(Add add) const {
    Block *root = nullptr;
    for (int level = 0; level < kLevels; ++level) {
      Block *left = count_ >> level & 1 ? stack_[level] : nullptr;
      if (left && root)
        add(left, root);
      else if (left)
        root = left;
    }
    return root;
  }

private:
  static constexpr int kLevels = 64;

  template <typename Add> void push(Block *leaf, Add add) {
    int level = 0;
    for (; count_ >> level & 1; ++level)
      if (Block *left = stack_[level]; left && leaf) {
        add(left, leaf);
        free_[freeCount_++] = left;
      } else if (left) {
        leaf = left;
      }
    stack_[level] = leaf;
    ++count_;
  }

  uint64_t count_ = 0;
  Block *stack_[kLevels] = {};
  Block *free_[MaxBlocks + 1];
  int freeCount_;
};

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
