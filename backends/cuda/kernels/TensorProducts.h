// Products and gradients of weights by tensor cores, for the rules of --fast.
#pragma once

#include "backends/cuda/kernels/Gradients.h"
#include "backends/cuda/kernels/Products.h"
#include "backends/cuda/kernels/TensorTile.h"
#include "executor/abi/ShardLimits.h"

namespace lstmc::gpu {

/// Blocks of product: [A, rowBlocks, columnBlocks]. Operands as of the kernels without a rule; p
/// may be packed with gates, and `panels` are then those of one gate.
struct TensorProductArguments {
  ProductArguments product;
  int64_t columnBlocks;
  int32_t gates; ///< at least 1
  int32_t flat;  ///< of one matrix: blocks are [1, rowBlocks, columnBlocks], of all A M rows
};
/// Blocks: [rows of y, columns] in tiles. No use is an embedding, and each has fewer than 2^31
/// terms.
struct TensorGradientArguments {
  GradientArguments gradient;
  int64_t columnBlocks;
};

/// Partial sums that a thread keeps of the tree over shards: enough for 15 shards. Kernels for many
/// shards keep kShardLevels; they are others, because a driver reserves that memory for all threads
/// that the GPU can have.
inline constexpr int kFewLevels = 4;

LSTMC_GPU_KERNEL(lstmc_product_tf32, TensorProductArguments, a);
LSTMC_GPU_KERNEL(lstmc_product_bf16, TensorProductArguments, a);
LSTMC_GPU_KERNEL(lstmc_product_fp16, TensorProductArguments, a);
LSTMC_GPU_KERNEL(lstmc_weight_gradient_tf32, TensorGradientArguments, a);
LSTMC_GPU_KERNEL(lstmc_weight_gradient_bf16, TensorGradientArguments, a);
LSTMC_GPU_KERNEL(lstmc_weight_gradient_fp16, TensorGradientArguments, a);
LSTMC_GPU_KERNEL(lstmc_weight_gradient_many_tf32, TensorGradientArguments, a);
LSTMC_GPU_KERNEL(lstmc_weight_gradient_many_bf16, TensorGradientArguments, a);
LSTMC_GPU_KERNEL(lstmc_weight_gradient_many_fp16, TensorGradientArguments, a);

} // namespace lstmc::gpu
