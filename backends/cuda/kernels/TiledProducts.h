// Exact products and gradients of weights by tiles: a thread has 8 x 4 results, so a number that it
// reads is used several times.
#pragma once

#include "backends/cuda/kernels/TensorProducts.h"

namespace lstmc::gpu {

inline constexpr int kRowsOfThread = 8, kColumnsOfThread = 4;
static_assert(kRowsOfThread * kColumnsOfThread * kTileThreads == kTile * kTile);

/// Blocks, threads and shared memory as of the products by tensor cores.
LSTMC_GPU_KERNEL(lstmc_product_tiles_f32, TensorProductArguments, a);
LSTMC_GPU_KERNEL(lstmc_weight_gradient_tiles_f32, TensorGradientArguments, a);
LSTMC_GPU_KERNEL(lstmc_weight_gradient_many_tiles_f32, TensorGradientArguments, a);

} // namespace lstmc::gpu
