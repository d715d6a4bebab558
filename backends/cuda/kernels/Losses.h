// Arguments of the gradient of SoftmaxOutput, of cross entropy and of metrics.
#pragma once

#include "backends/cuda/kernels/Operand.h"
#include "executor/abi/Kernels.h"

namespace lstmc::gpu {

/// p, dx [A, C, D], label [A, D] or [A, C, D]; `valid` may be absent. One thread for each of the
/// `count` elements of dx.
struct SoftmaxOutputArguments {
  Operand p, label, valid, dx;
  int64_t count;
  bool useIgnore, multi;
  SoftmaxNormalization normalization;
  int64_t ignored;
  double gradScale, smoothAlpha;
};

/// label [A, D], y [1]. One block.
struct ValidCountArguments {
  Operand label, y;
  int64_t ignored;
};

/// x [N, C], label [N], y [1]. One block.
struct CrossEntropyArguments {
  Operand x, label, y;
};

/// x [O, B, Q, C], label [O, B, Q] or [O, B, Q, C]; y [F], by one block, or [B, F], by one block
/// per row.
struct SoftmaxMetricArguments {
  Operand x, label, y;
  ShardRange range;
  bool useIgnore, valid;
  int64_t ignored;
  double smoothAlpha, scale;
};
/// x, label [O, B, Q]; y as above.
struct RegressionMetricArguments {
  Operand x, label, y;
  ShardRange range;
  RegressionLoss loss;
  double scale;
};
struct LossMetricArguments {
  Operand x, y;
  ShardRange range;
  bool valid;
  double validThresh, scale;
};

/// A block has a warp for each of the 16 lanes that elements are summed in.
inline constexpr int kLossThreads = 16 * 32;
/// Counting: a partial count of each thread.
inline constexpr int kCountThreads = 64;
inline constexpr int kCountSharedBytes = kCountThreads * 8;
inline constexpr int kCrossEntropySharedBytes = 16 * 8;
constexpr int metricSharedBytes(int64_t fields) { return int(16 * fields * 8); }

LSTMC_GPU_KERNEL(lstmc_softmax_output_gradient_f32, SoftmaxOutputArguments, a);
LSTMC_GPU_KERNEL(lstmc_softmax_output_gradient_f64, SoftmaxOutputArguments, a);
LSTMC_GPU_KERNEL(lstmc_valid_count, ValidCountArguments, a);
LSTMC_GPU_KERNEL(lstmc_softmax_cross_entropy_f32, CrossEntropyArguments, a);
LSTMC_GPU_KERNEL(lstmc_softmax_cross_entropy_f64, CrossEntropyArguments, a);
LSTMC_GPU_KERNEL(lstmc_softmax_metric_f32, SoftmaxMetricArguments, a);
LSTMC_GPU_KERNEL(lstmc_softmax_metric_f64, SoftmaxMetricArguments, a);
LSTMC_GPU_KERNEL(lstmc_regression_metric, RegressionMetricArguments, a);
LSTMC_GPU_KERNEL(lstmc_loss_metric, LossMetricArguments, a);

} // namespace lstmc::gpu
