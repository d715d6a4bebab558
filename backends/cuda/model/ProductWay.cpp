#include "backends/cuda/model/ProductWay.h"

#include <algorithm>

#include "backends/cuda/kernels/TiledProducts.h"

namespace lstmc::cuda {

namespace {

// Assumed: none was measured. Choices need only their ratios.
constexpr double kSchedulers = 4; ///< instructions of warps that a multiprocessor begins in a cycle
constexpr double kLanes = 32;
constexpr double kOne = 5;     ///< instructions for each term of a sum, where a thread has one
constexpr double kTiled = 1.4; ///< the same of tiles: a term itself, and its part of what is loaded
constexpr double kTerm = 8;    ///< cycles from one term of a thread's only sum to the next

int64_t upwards(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Blocks that have `rows` x `columns` results each, in waves over the multiprocessors.
double cyclesIn(const ProductShape &product, const GpuShape &gpu, int64_t rows, int64_t columns,
                double instructions) {
  const int64_t blocks =
      product.matrices * upwards(product.rows, rows) * upwards(product.columns, columns);
  const auto waves = double(upwards(blocks, std::max(gpu.multiprocessors, 1)));
  return waves * double(rows * columns) / kLanes * double(product.depth) * instructions /
         kSchedulers;
}

} // namespace

ProductWay productWay(const ProductShape &product, const GpuShape &gpu) {
  const double tiles = cyclesIn(product, gpu, gpu::kTile, gpu::kTile, kTiled);
  const double ones = std::max(cyclesIn(product, gpu, gpu::kProductRows, int64_t(kPanel), kOne),
                               double(product.depth) * kTerm);
  ProductWay way = {.tiles = gpu.tiles.value_or(tiles < ones)};
  way.cycles = way.tiles ? tiles : ones;
  const double full = double(product.matrices) * double(product.rows) * double(product.columns) *
                      double(product.depth) * kTiled /
                      (kLanes * kSchedulers * std::max(gpu.multiprocessors, 1));
  way.waste = full > 0 ? std::max(1.0, way.cycles / full) : 1;
  return way;
}

} // namespace lstmc::cuda
