// Arguments of the kernels of products.
#pragma once

#include "backends/cuda/kernels/Operand.h"

namespace lstmc::gpu {

/// For pack: one thread for each of the `count` elements of p, padding included.
struct PackArguments {
  Operand w, p;
  int64_t count;
  int bytes;
  int gates; ///< at least 1
};

/// For product: a block has kProductRows rows and one panel of columns of one gate, with one thread
/// per element.
struct ProductArguments {
  Operand x, p, bias, y;
  int64_t panels, rowBlocks; ///< blocks: [A, rowBlocks, panels, gates]
  bool oneMatrix;            ///< p has one matrix for all A
  int gates = 1;             ///< that p is packed with; 1 for none
};
inline constexpr int kProductRows = 8;
inline constexpr int kProductThreads = kProductRows * int(kPanel);
/// Number of steps of k for which x is loaded into shared memory at once.
inline constexpr int kProductSteps = 32;
template <typename Real> constexpr int productSharedBytes() {
  return kProductRows * kProductSteps * int(sizeof(Real));
}

LSTMC_GPU_KERNEL(lstmc_pack, PackArguments, a);
LSTMC_GPU_KERNEL(lstmc_product_f32, ProductArguments, a);
LSTMC_GPU_KERNEL(lstmc_product_f64, ProductArguments, a);

/// Weights that are packed with so many gates, as dense matrices [A, depth, gates * units].
struct UnpackArguments {
  Operand p;
  Global<float> y;
  int64_t count, depth, units, gates;
};

LSTMC_GPU_KERNEL(lstmc_unpack, UnpackArguments, a);

} // namespace lstmc::gpu
