// Gradients of weights by tiles of kTile x kTile results, in the order of docs/numerics.md rules 3
// to 5, whatever adds the terms of a tile.
#pragma once

#include "backends/cuda/kernels/TensorProducts.h"

namespace lstmc::gpu {

/// Adds the sums of shards by the tree (docs/numerics.md rule 5), as ShardSums, for all numbers
/// that a thread has.
template <int Levels> struct TreeOfTiles {
  static constexpr int kCount = kTile * kTile / kTileThreads;
  uint64_t count = 0, present = 0;
  float stack[Levels][kCount];

  /// A shard that has rows, or that has none.
  LSTMC_DEVICE void add(float *sum, bool there) {
    int level = 0;
    for (; count >> level & 1; ++level)
      if (present >> level & 1) {
        LSTMC_UNROLL
        for (int i = 0; i < kCount; ++i)
          sum[i] = there ? added(stack[level][i], sum[i]) : stack[level][i];
        there = true;
      }
    LSTMC_UNROLL
    for (int i = 0; i < kCount; ++i)
      stack[level][i] = sum[i];
    const uint64_t bit = uint64_t(1) << level;
    present = there ? present | bit : present & ~bit;
    ++count;
  }
  LSTMC_DEVICE void finish(float *sum) const {
    LSTMC_UNROLL
    for (int i = 0; i < kCount; ++i)
      sum[i] = 0;
    bool there = false;
    for (int level = 0; level < Levels; ++level)
      if (count >> level & 1 && present >> level & 1) {
        LSTMC_UNROLL
        for (int i = 0; i < kCount; ++i)
          sum[i] = there ? added(stack[level][i], sum[i]) : stack[level][i];
        there = true;
      }
  }
};

/// Copies of the terms that a use has of a shard's rows [begin, end), in the order of rule 4: (o,
/// q) descending, rows ascending. A thread copies four lines of each operand, of terms kApart
/// apart.
class GradientCopies {
public:
  LSTMC_DEVICE GradientCopies(const GradientArguments &a, const GradientUse &use, int64_t begin,
                              int64_t end, int64_t firstRow, int64_t firstColumn)
      : begin_(begin), outer_(use.outer), inner_(uint32_t(use.inner)),
        height_(uint32_t(end - begin)), depth_(use.outer * use.inner * (end - begin)),
        dy_(use.dy, use.dyStrides, firstRow, a.y.shape[0]),
        x_(use.x, use.xStrides, firstColumn, a.y.shape[1]) {}

  LSTMC_DEVICE int64_t depth() const { return depth_; }

  LSTMC_DEVICE void copy(Tile dyTile, Tile xTile, int64_t from) const {
    LSTMC_UNROLL
    for (int i = 0; i < kTileDepth; i += kApart) {
      const int k = threadIndex() / kGroups + i;
      const bool there = from + k < depth_;
      const auto term = uint32_t(from) + uint32_t(k), step = term / height_;
      const int64_t o = outer_ - 1 - step / inner_, b = begin_ + term % height_;
      const int64_t q = inner_ - 1 - step % inner_;
      dy_.copy(dyTile, k, there, o, b, q);
      x_.copy(xTile, k, there, o, b, q);
    }
  }

private:
  static constexpr int kGroups = kTile / kQuad, kApart = kTileThreads / kGroups;

  /// The thread's lines of one operand.
  class Lines {
  public:
    LSTMC_DEVICE Lines(void *data, const int64_t *strides, int64_t first, int64_t extent)
        : numbers_{static_cast<const float *>(data)}, outer_(strides[0]), row_(strides[1]),
          inner_(strides[2]), line_(strides[3]),
          whole_(alignedQuads(data) && strides[0] % kQuad == 0 && strides[1] % kQuad == 0 &&
                 strides[2] % kQuad == 0 && strides[3] == 1) {
      const int64_t line = first + threadIndex() % kGroups * kQuad;
      offset_ = line * strides[3];
      wanted_ = line >= extent ? 0 : extent - line < kQuad ? int(extent - line) : kQuad;
    }
    LSTMC_DEVICE void copy(Tile to, int k, bool there, int64_t o, int64_t b, int64_t q) const {
      copyQuad(to, placeIn<Order::DepthFirst>(threadIndex() % kGroups * kQuad, k), numbers_,
               offset_ + o * outer_ + b * row_ + q * inner_, line_, there ? wanted_ : 0, whole_);
    }

  private:
    Global<const float> numbers_;
    int64_t outer_, row_, inner_, line_; ///< strides
    bool whole_; ///< four lines are four neighbours, from a multiple of 4 on
    int64_t offset_;
    int wanted_; ///< of the four
  };

  int64_t begin_, outer_;
  uint32_t inner_, height_; ///< terms are counted in 32 bits
  int64_t depth_;
  Lines dy_, x_;
};

/// Sum: the block's sums, as TileSum.
template <typename Sum, int Levels>
LSTMC_DEVICE void tiledWeightGradient(const TensorGradientArguments &all) {
  const GradientArguments &a = all.gradient;
  const int64_t firstRow = blockIndex() / all.columnBlocks * kTile;
  const int64_t firstColumn = blockIndex() % all.columnBlocks * kTile;
  auto inside = [&](int line, int across) {
    return firstRow + line < a.y.shape[0] && firstColumn + across < a.y.shape[1];
  };
  const Global<const float> before = elementsOf<const float>(a.begin);

  TreeOfTiles<Levels> tree;
  Sum sum;
  for (int64_t j = 0; j < a.range.count; ++j) {
    const int64_t begin = a.range.begin(j), end = a.range.begin(j + 1);
    sum.forEach([&](int line, int across, float &value) {
      value = before && inside(line, across)
                  ? before.load(at(a.begin, firstRow + line, firstColumn + across))
                  : 0;
    });
    for (int64_t i = 0; i < a.useCount && begin < end; ++i) {
      const GradientUse use = a.uses.row(i);
      const GradientCopies terms(a, use, begin, end, firstRow, firstColumn);
      throughTiles(
          terms.depth(), [&](Tile dy, Tile x, int64_t from) { terms.copy(dy, x, from); },
          [&](Tile dy, Tile x, int64_t count) {
            sum.template add<Order::DepthFirst>(dy, x, count);
          });
      syncThreads(); // before the next use's tiles
    }
    tree.add(sum.numbers(), begin < end);
  }
  tree.finish(sum.numbers());
  const Global<float> y = elementsOf<float>(a.y);
  sum.forEach([&](int line, int across, float value) {
    if (inside(line, across))
      y.store(at(a.y, firstRow + line, firstColumn + across), value);
  });
}

} // namespace lstmc::gpu
