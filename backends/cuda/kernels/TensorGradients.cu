#include "backends/cuda/kernels/TensorProducts.h"

namespace lstmc::gpu {

namespace {

/// Adds the sums of shards by the tree (docs/numerics.md rule 5), as ShardSums, for all numbers
/// that a thread has.
template <int Levels> struct TreeOfTiles {
  static constexpr int kCount = TileSum<Bf16>::kCount;
  uint64_t count = 0, present = 0;
  float stack[Levels][kCount];

  /// A shard that has rows, or that has none.
  LSTMC_DEVICE void add(float *sum, bool there) {
    int level = 0;
    for (; count >> level & 1; ++level)
      if (present >> level & 1) {
        LSTMC_UNROLL
        for (int i = 0; i < kCount; ++i)
          sum[i] = there ? stack[level][i] + sum[i] : stack[level][i];
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
          sum[i] = there ? stack[level][i] + sum[i] : stack[level][i];
        there = true;
      }
  }
};

/// Adds what one use has of the shard's rows [begin, end): its terms in the order of rule 4, in
/// groups of Rule::kDepth.
template <typename Rule>
LSTMC_DEVICE void addUse(const GradientArguments &a, const GradientUse &use, int64_t begin,
                         int64_t end, int64_t firstRow, int64_t firstColumn, TileSum<Rule> &sum) {
  const int64_t rows = a.y.shape[0], columns = a.y.shape[1];
  const int64_t height = end - begin, depth = use.outer * use.inner * height;
  auto copy = [&](Tile to, void *data, const int64_t *strides, int64_t first, int64_t extent,
                  int64_t from) {
    const Global<const float> numbers = {static_cast<const float *>(data)};
    const bool quads = alignedQuads(data) && strides[0] % 4 == 0 && strides[1] % 4 == 0 &&
                       strides[2] % 4 == 0 && strides[3] == 1;
    copyTile<Order::DepthFirst>(to, numbers, quads, [&](int line, int k) -> int64_t {
      const int64_t term = from + k, e = first + line;
      if (term >= depth || e >= extent)
        return kNowhere;
      const int64_t b = begin + term % height, step = term / height;
      const int64_t q = use.inner - 1 - step % use.inner, o = use.outer - 1 - step / use.inner;
      return o * strides[0] + b * strides[1] + q * strides[2] + e * strides[3];
    });
  };
  sum.template addAll<Order::DepthFirst>(depth, [&](Tile dyTile, Tile xTile, int64_t from) {
    copy(dyTile, use.dy, use.dyStrides, firstRow, rows, from);
    copy(xTile, use.x, use.xStrides, firstColumn, columns, from);
  });
}

template <typename Rule, int Levels>
LSTMC_DEVICE void weightGradient(const TensorGradientArguments &all) {
  const GradientArguments &a = all.gradient;
  const int64_t firstRow = blockIndex() / all.columnBlocks * kTile;
  const int64_t firstColumn = blockIndex() % all.columnBlocks * kTile;
  auto inside = [&](int line, int across) {
    return firstRow + line < a.y.shape[0] && firstColumn + across < a.y.shape[1];
  };
  const Global<const float> before = elementsOf<const float>(a.begin);

  TreeOfTiles<Levels> tree;
  TileSum<Rule> sum;
  for (int64_t j = 0; j < a.range.count; ++j) {
    const int64_t begin = a.range.begin(j), end = a.range.begin(j + 1);
    sum.forEach([&](int line, int across, float &value) {
      value = before && inside(line, across)
                  ? before.load(at(a.begin, firstRow + line, firstColumn + across))
                  : 0;
    });
    for (int64_t i = 0; i < a.useCount && begin < end; ++i)
      addUse(a, a.uses.row(i), begin, end, firstRow, firstColumn, sum);
    tree.add(&sum.c[0][0][0], begin < end);
  }
  tree.finish(&sum.c[0][0][0]);
  const Global<float> y = elementsOf<float>(a.y);
  sum.forEach([&](int line, int across, float value) {
    if (inside(line, across))
      y.store(at(a.y, firstRow + line, firstColumn + across), value);
  });
}

} // namespace

LSTMC_GPU_KERNEL(lstmc_weight_gradient_tf32, TensorGradientArguments, a) {
  weightGradient<Tf32, kFewLevels>(a);
}
LSTMC_GPU_KERNEL(lstmc_weight_gradient_bf16, TensorGradientArguments, a) {
  weightGradient<Bf16, kFewLevels>(a);
}
LSTMC_GPU_KERNEL(lstmc_weight_gradient_fp16, TensorGradientArguments, a) {
  weightGradient<Fp16, kFewLevels>(a);
}
LSTMC_GPU_KERNEL(lstmc_weight_gradient_many_tf32, TensorGradientArguments, a) {
  weightGradient<Tf32, kShardLevels>(a);
}
LSTMC_GPU_KERNEL(lstmc_weight_gradient_many_bf16, TensorGradientArguments, a) {
  weightGradient<Bf16, kShardLevels>(a);
}
LSTMC_GPU_KERNEL(lstmc_weight_gradient_many_fp16, TensorGradientArguments, a) {
  weightGradient<Fp16, kShardLevels>(a);
}

} // namespace lstmc::gpu
