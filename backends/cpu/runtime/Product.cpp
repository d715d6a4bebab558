// The kernel product, and the loops over rows and columns that the recurrent kernels share.
#include "backends/cpu/runtime/Columns.h"
#include "backends/cpu/runtime/KernelTable.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

namespace {

/// So many rows per pass over the weights that their inputs stay in L2.
constexpr int64_t kSweepBytes = 512 * 1024;

} // namespace

void multiplyGrid(const RowGrid &grid, int64_t rowBegin, int64_t rowEnd, const float *p, int64_t n,
                  int64_t k, const Tensor &bias, int64_t begin, int64_t end) {
  const int64_t sweep =
      std::max(kPassRows, kSweepBytes / (4 * std::max<int64_t>(k, 1)) / kPassRows * kPassRows);
  const float *rows[kPassRows];
  float *out[kPassRows];
  bool down = false;
  for (int64_t first = rowBegin; first < rowEnd; first += sweep, down = !down)
    forColumnBlocks(begin, end, down, [&](auto vectors, int64_t granule) LSTMC_LAMBDA {
      constexpr int V = decltype(vectors)::value;
      const int64_t column = granule * kGranule;
      const BlockOutput<V> output = columnOutput<V>(column, n, bias);
      const PanelBlock block = columnBlock(p, k, granule);
      const int64_t last = std::min(first + sweep, rowEnd);
      int64_t t = first / grid.batch, b = first % grid.batch;
      for (int64_t r = first; r < last;) {
        // Passes of equal length, so that no tile with a single row remains.
        const int64_t passes = (last - r + kPassRows - 1) / kPassRows;
        const int64_t count = (last - r + passes - 1) / passes;
        for (int64_t i = 0; i < count; ++i) {
          rows[i] = grid.x + t * grid.xStep + b * grid.xRow;
          out[i] = grid.y + t * grid.yStep + b * grid.yRow + column;
          if (++b == grid.batch) {
            b = 0;
            ++t;
          }
        }
        multiplyBlock<V>(rows, kGroup, out, count, block, k, output);
        r += count;
      }
    });
}

void multiplyGrid(const RowGrid &grid, const float *p, int64_t n, int64_t k, const Tensor &bias,
                  int64_t worker, int64_t workers) {
  const int64_t rows = grid.steps * grid.batch, all = granules(n);
  // Work of the busiest worker, in rows times granules. If rows are split, every worker reads the
  // whole matrix of weights.
  const int64_t byColumns = (all + workers - 1) / workers * rows;
  const int64_t byRows = (rows + workers - 1) / workers * all;
  if (rows >= kPassRows * workers && byRows < byColumns)
    multiplyGrid(grid, rows * worker / workers, rows * (worker + 1) / workers, p, n, k, bias, 0,
                 all);
  else
    multiplyGrid(grid, 0, rows, p, n, k, bias, all * worker / workers,
                 all * (worker + 1) / workers);
}

namespace {

void product(const ProductLaunch &launch, Worker &worker) {
  const Tensor &x = launch.x, &p = launch.p, &bias = launch.bias, &y = launch.y;
  const int64_t k = x.shape[2], n = y.shape[2];
  for (int64_t a = 0; a < x.shape[0]; ++a) {
    RowGrid grid{1, x.shape[1],   x.as<float>() + a * x.strides[0],
                 0, x.strides[1], y.as<float>() + a * y.strides[0],
                 0, y.strides[1]};
    multiplyGrid(grid, p.as<float>() + a * packedElements(n, k, 0), n, k, bias, worker.index,
                 worker.count);
  }
}

} // namespace

void registerProduct(KernelTable &table) { table.set<product>(); }

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
