// Blocks of columns of a matrix packed with gates = 0.
#pragma once

#include "backends/cpu/runtime/Rows.h"
#include "backends/cpu/runtime/Tile.h"
#include "executor/device/StopFlag.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

/// Columns are divided among workers and blocks in granules: a panel, or less at the scalar level.
inline constexpr int64_t kGranule = kWidth == 1 ? 4 : kPanel;
inline constexpr int kGranuleVectors = int(kGranule) / kWidth;
/// Granules in a block, so that a block has at most 4 vectors.
inline constexpr int kBlockGranules = kWidth == 16 ? 4 : 1;

constexpr int64_t granules(int64_t n) { return (n + kGranule - 1) / kGranule; }

/// The block that begins at this granule of a matrix packed from [N, K].
inline PanelBlock columnBlock(const float *p, int64_t k, int64_t granule) {
  int64_t column = granule * kGranule;
  return {p + column / kPanel * k * kPanel + column % kPanel,
          kGranuleVectors == 1 ? k * kPanel : kWidth};
}

/// Calls f(integral_constant<int, V>, first granule) for blocks that cover granules [begin, end)
/// evenly, in descending order if `down`. Stops early once the launch has been asked to stop.
template <typename F>
LSTMC_INLINE void forColumnBlocks(int64_t begin, int64_t end, bool down, F f) {
  if constexpr (kBlockGranules == 1) {
    for (int64_t i = begin; i < end && !stopAsked(); ++i)
      f(std::integral_constant<int, kGranuleVectors>{}, down ? begin + end - 1 - i : i);
  } else {
    const int64_t total = end - begin, blocks = (total + kBlockGranules - 1) / kBlockGranules;
    for (int64_t i = 0; i < blocks && !stopAsked(); ++i) {
      int64_t block = down ? blocks - 1 - i : i;
      int64_t first = begin + total * block / blocks, next = begin + total * (block + 1) / blocks;
      withCount<kBlockGranules>(next - first, [&](auto v) LSTMC_LAMBDA { f(v, first); });
    }
  }
}

/// Masks, and the bias if present, for the V vectors from `column` in a row of N columns.
template <int V> inline BlockOutput<V> columnOutput(int64_t column, int64_t n, const Tensor &bias) {
  BlockOutput<V> output;
  output.vectorStride = kWidth;
  output.whole = column + V * kWidth <= n;
  output.hasBias = bool(bias);
  for (int v = 0; v < V; ++v) {
    output.mask[v] = Vector::firstLanes(n - column - v * kWidth);
    if (bias)
      output.bias[v] = getVector(bias, column + v * kWidth, n - column - v * kWidth);
  }
  return output;
}

/// Rows of a product: row (t, b) is at x + t * xStep + b * xRow for t < steps, b < batch.
struct RowGrid {
  int64_t steps, batch;
  const float *x;
  int64_t xStep, xRow;
  float *y;
  int64_t yStep, yRow;
};

/// y = x times the packed matrix p [N, K] (+ bias), for rows [rowBegin, rowEnd) of the grid
/// (numbered t * batch + b) and granules [begin, end).
void multiplyGrid(const RowGrid &grid, int64_t rowBegin, int64_t rowEnd, const float *p, int64_t n,
                  int64_t k, const Tensor &bias, int64_t begin, int64_t end);

/// The same for the whole grid, divided among the workers: by columns, or by rows if columns do not
/// divide well.
void multiplyGrid(const RowGrid &grid, const float *p, int64_t n, int64_t k, const Tensor &bias,
                  int64_t worker, int64_t workers);

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
