#include "backends/cuda/kernels/GradientTiles.h"

namespace lstmc::gpu {

LSTMC_GPU_KERNEL(lstmc_weight_gradient_tf32, TensorGradientArguments, a) {
  tiledWeightGradient<TileSum<Tf32>, kFewLevels>(a);
}
LSTMC_GPU_KERNEL(lstmc_weight_gradient_bf16, TensorGradientArguments, a) {
  tiledWeightGradient<TileSum<Bf16>, kFewLevels>(a);
}
LSTMC_GPU_KERNEL(lstmc_weight_gradient_fp16, TensorGradientArguments, a) {
  tiledWeightGradient<TileSum<Fp16>, kFewLevels>(a);
}
LSTMC_GPU_KERNEL(lstmc_weight_gradient_many_tf32, TensorGradientArguments, a) {
  tiledWeightGradient<TileSum<Tf32>, kShardLevels>(a);
}
LSTMC_GPU_KERNEL(lstmc_weight_gradient_many_bf16, TensorGradientArguments, a) {
  tiledWeightGradient<TileSum<Bf16>, kShardLevels>(a);
}
LSTMC_GPU_KERNEL(lstmc_weight_gradient_many_fp16, TensorGradientArguments, a) {
  tiledWeightGradient<TileSum<Fp16>, kShardLevels>(a);
}

} // namespace lstmc::gpu
