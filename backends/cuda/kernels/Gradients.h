// Arguments of the gradients of weights and biases.
#pragma once

#include "backends/cuda/kernels/Operand.h"

namespace lstmc::gpu {

/// A use of the weight: dy [O, B, Q, N], x [O, B, Q, K] or the indices [O, B, Q] of an embedding.
struct GradientUse {
  void *dy, *x;
  int64_t dyStrides[4], xStrides[4];
  int64_t outer, inner; ///< O, Q
  int32_t indexType;    ///< of the indices; -1: x is no embedding
  int32_t unused;
};

/// One thread for each of the `count` elements of y: dw [N, K], or db [N] with K = 1. `begin` as y,
/// if the sum goes on from it.
struct GradientArguments {
  Operand y, begin;
  Table<GradientUse> uses;
  int64_t useCount, count;
  ShardRange range;
};

LSTMC_GPU_KERNEL(lstmc_weight_gradient_f32, GradientArguments, a);
LSTMC_GPU_KERNEL(lstmc_weight_gradient_f64, GradientArguments, a);
LSTMC_GPU_KERNEL(lstmc_bias_gradient_f32, GradientArguments, a);
LSTMC_GPU_KERNEL(lstmc_bias_gradient_f64, GradientArguments, a);

} // namespace lstmc::gpu
