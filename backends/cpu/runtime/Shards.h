// The order in which gradients of weights are summed (robustness: rules 3 to 5), for blocks of
// values.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>

#include "backends/cpu/runtime/Vector.h"
#include "executor/base/Tensor.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

/// Row (o, b, q) of a value [O, B, Q, *], as an offset in elements.
inline int64_t rowOffset(const Tensor &x, int64_t o, int64_t b, int64_t q) {
  return o * x.strides[0] + b * x.strides[1] + q * x.strides[2];
}

/// Walks the rows of one use that fall into rows [begin, end) of the batch: (o, q) descending, then
/// b ascending.
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

/// Folds blocks, one per shard in ascending order, by the tree of executor/base/Tree.h. The caller
/// fills leaf() and says fold(add); `add(a, b)` adds block a to b in place, a + b. At most popcount
/// + 1 blocks are alive.
template <typename Block, int MaxBlocks> class ShardFold {
public:
  /// `blocks`: at least blocksAlive() of them.
  explicit ShardFold(Block *const *blocks, int count) {
    for (int i = 0; i < count; ++i)
      free_[free_count_++] = blocks[i];
  }

  /// Blocks alive at once in a fold of `shards` of which `present` are not empty.
  static int blocksAlive(int64_t shards, int64_t present) {
    int64_t alive = std::bit_width(uint64_t(shards));
    return int(alive < present ? alive : present > 0 ? present : 1);
  }

  Block *leaf() { return free_[free_count_ - 1]; }
  template <typename Add> void fold(Add add) { push(free_[--free_count_], add); }
  template <typename Add> void skip(Add add) { push(nullptr, add); }

  /// The root, or null if no shard was present.
  template <typename Add> Block *finish(Add add) {
    Block *root = nullptr;
    for (int level = 0; level < 64; ++level)
      if (count_ >> level & 1)
        root = join(stack_[level], root, add);
    return root;
  }

private:
  template <typename Add> Block *join(Block *left, Block *right, Add add) {
    if (!left || !right)
      return left ? left : right;
    add(left, right);
    free_[free_count_++] = left;
    return right;
  }
  template <typename Add> void push(Block *leaf, Add add) {
    int level = 0;
    for (; count_ >> level & 1; ++level)
      leaf = join(stack_[level], leaf, add);
    stack_[level] = leaf;
    ++count_;
  }

  uint64_t count_ = 0;
  Block *stack_[64] = {};
  Block *free_[MaxBlocks + 1];
  int free_count_ = 0;
};

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
