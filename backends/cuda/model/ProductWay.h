// Which kernel carries out an exact product of f32, and how long that takes: the same answer when a
// plan is made and when a package is loaded.
#pragma once

#include <cstdint>

#include "backends/cuda/model/GpuShape.h"

namespace lstmc::cuda {

/// Rows and columns of each of so many results, and the terms of their sums.
struct ProductShape {
  int64_t matrices, rows, columns, depth;
};

/// Both kernels give the same bits.
struct ProductWay {
  bool tiles = false; ///< a thread has 32 results (TiledProducts.h), else one
  double cycles = 0;  ///< of a multiprocessor, from the first block to the last
  double waste = 1;   ///< times as long as a product that fills the GPU with tiles
};

/// That which takes less.
ProductWay productWay(const ProductShape &product, const GpuShape &gpu);

} // namespace lstmc::cuda
