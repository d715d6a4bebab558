// Arguments of the kernels of products.
#pragma once

#include "backends/cuda/kernels/Operand.h"

namespace lstmc::gpu {

/// pack: one thread for each of `count` elements of p, padding included.
struct PackArguments {
  Operand w, p;
  int64_t count;
  int bytes;
  int gates; ///< at least 1
};

/// product: a block has kProductRows rows and one panel of columns, a thread for each element.
struct ProductArguments {
  Operand x, p, bias, y;
  int64_t panels, rowBlocks; ///< blocks: [A, rowBlocks, panels]
  bool oneMatrix;            ///< p has one for all A
};
inline constexpr int kProductRows = 8;
inline constexpr int kProductThreads = kProductRows * int(kPanel);
/// Steps of k whose x is brought into shared memory at once.
inline constexpr int kProductSteps = 32;
template <typename Real> constexpr int productSharedBytes() {
  return kProductRows * kProductSteps * int(sizeof(Real));
}

LSTMC_GPU_KERNEL(lstmc_pack, PackArguments, a);
LSTMC_GPU_KERNEL(lstmc_product_f32, ProductArguments, a);
LSTMC_GPU_KERNEL(lstmc_product_f64, ProductArguments, a);

} // namespace lstmc::gpu
