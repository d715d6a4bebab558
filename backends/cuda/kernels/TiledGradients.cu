#include "backends/cuda/kernels/GradientTiles.h"
#include "backends/cuda/kernels/TiledProducts.h"

namespace lstmc::gpu {

namespace {

/// A thread's results: each one sum with a fused multiply-add for each term, ascending
/// (docs/numerics.md rules 1 and 4). Rows are two times four side by side, half a tile apart, so
/// that three quads have all numbers of a term.
struct ExactSum {
  float c[kRowsOfThread][kColumnsOfThread];

  static LSTMC_DEVICE int row(int r) {
    return (warpIndex() / 2 * 4 + laneIndex() / 8) * kQuad + r % kQuad + r / kQuad * (kTile / 2);
  }
  static LSTMC_DEVICE int column(int c) {
    return (warpIndex() % 2 * 8 + laneIndex() % 8) * kColumnsOfThread + c;
  }

  LSTMC_DEVICE float *numbers() { return &c[0][0]; }

  template <typename Visit> LSTMC_DEVICE void forEach(Visit visit) {
    LSTMC_UNROLL
    for (int r = 0; r < kRowsOfThread; ++r)
      LSTMC_UNROLL
    for (int k = 0; k < kColumnsOfThread; ++k)
      visit(row(r), column(k), c[r][k]);
  }

  /// Adds the first `count` terms and no others: a term of 0 would make -0 to +0.
  template <Order order> LSTMC_DEVICE void add(Tile dy, Tile x, int64_t count) {
    static_assert(order == Order::DepthFirst);
    if (count >= kTileDepth)
      addTerms(dy, x, kTileDepth);
    else
      addTerms(dy, x, int(count));
  }

private:
  LSTMC_DEVICE void addTerms(Tile dyTile, Tile xTile, int count) {
    const Shared<Quad> dy = dyTile.quads(), x = xTile.quads();
    auto quad = [](Shared<Quad> of, int line, int k) {
      return of.load(placeIn<Order::DepthFirst>(line, k) / kQuad);
    };
    for (int k = 0; k < count; ++k) {
      const Quad columns = quad(x, column(0), k);
      LSTMC_UNROLL
      for (int half = 0; half < kRowsOfThread; half += kQuad) {
        const Quad rows = quad(dy, row(half), k);
        LSTMC_UNROLL
        for (int r = 0; r < kQuad; ++r)
          LSTMC_UNROLL
        for (int i = 0; i < kColumnsOfThread; ++i)
          c[half + r][i] = multiplyAdd(rows.numbers[r], columns.numbers[i], c[half + r][i]);
      }
    }
  }
};

} // namespace

LSTMC_GPU_KERNEL(lstmc_weight_gradient_tiles_f32, TensorGradientArguments, a) {
  tiledWeightGradient<ExactSum, kFewLevels>(a);
}
LSTMC_GPU_KERNEL(lstmc_weight_gradient_many_tiles_f32, TensorGradientArguments, a) {
  tiledWeightGradient<ExactSum, kShardLevels>(a);
}

} // namespace lstmc::gpu
