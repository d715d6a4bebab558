// Arguments of reductions and normalisations. A warp has a row.
#pragma once

#include "backends/cuda/kernels/Operand.h"
#include "executor/abi/Kernels.h"

namespace lstmc::gpu {

/// x [kept..., reduced...], y [kept...].
struct ReduceArguments {
  Operand x, y;
  ReduceKind kind;
  int64_t kept, rows, count; ///< count: elements of a row
};

/// x, y [R, C]; `length` may be absent.
struct SoftmaxArguments {
  Operand x, length, y;
  int64_t rows;
  bool log;
  double temperature;
};
struct SoftmaxGradientArguments {
  Operand y, dy, length, dx;
  int64_t rows;
  bool log;
  double temperature;
};

struct LayerNormArguments {
  Operand x, gamma, beta, y, mean, rstd;
  int64_t rows;
  double epsilon;
};
struct LayerNormGradientArguments {
  Operand x, gamma, mean, rstd, dy, dx, dgammaRows;
  int64_t rows;
};

/// A tensor of norm_squared with its tiles.
struct NormTensor {
  Operand x;
  int64_t elements;
};
/// One block of kNormWarps warps; `begin` may be absent.
struct NormArguments {
  Operand y, begin;
  Table<NormTensor> tensors;
  int64_t count;
};
inline constexpr int kNormWarps = 4;

LSTMC_GPU_KERNEL(lstmc_reduce, ReduceArguments, a);
LSTMC_GPU_KERNEL(lstmc_softmax_f32, SoftmaxArguments, a);
LSTMC_GPU_KERNEL(lstmc_softmax_f64, SoftmaxArguments, a);
LSTMC_GPU_KERNEL(lstmc_softmax_gradient_f32, SoftmaxGradientArguments, a);
LSTMC_GPU_KERNEL(lstmc_softmax_gradient_f64, SoftmaxGradientArguments, a);
LSTMC_GPU_KERNEL(lstmc_layer_norm_f32, LayerNormArguments, a);
LSTMC_GPU_KERNEL(lstmc_layer_norm_f64, LayerNormArguments, a);
LSTMC_GPU_KERNEL(lstmc_layer_norm_gradient_f32, LayerNormGradientArguments, a);
LSTMC_GPU_KERNEL(lstmc_layer_norm_gradient_f64, LayerNormGradientArguments, a);
LSTMC_GPU_KERNEL(lstmc_norm_squared, NormArguments, a);

} // namespace lstmc::gpu
