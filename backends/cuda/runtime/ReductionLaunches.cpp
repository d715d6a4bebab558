#include <cstddef>

#include "backends/cuda/kernels/Reductions.h"
#include "backends/cuda/runtime/Groups.h"

namespace lstmc::cuda {

namespace {

/// A launch of one warp per row.
template <typename Arguments>
Launches perRow(std::string_view kernel, const Arguments &arguments, int64_t rows) {
  GpuLaunch launch = launchOf(kernel, arguments);
  launch.threads = 32;
  launch.blocks = rows;
  return {{std::move(launch)}};
}

bool isWide(const Tensor &tensor) { return tensor.dtype == DType::F64; }

} // namespace

Launches launchesReduce(const ReduceLaunch &launch, const GpuShape &) {
  const Tensor &x = launch.x, &y = launch.y;
  int64_t count = 1;
  for (int64_t axis = launch.kept; axis < x.rank; ++axis)
    count *= x.shape[size_t(axis)];
  const int64_t rows = y.elements();
  return perRow(
      "lstmc_reduce",
      gpu::ReduceArguments{operandOf(x), operandOf(y), launch.kind, launch.kept, rows, count},
      std::min(rows, kMaxBlocks));
}

Launches launchesSoftmax(const SoftmaxLaunch &launch, const GpuShape &) {
  const int64_t rows = launch.y.shape[0];
  return perRow(isWide(launch.x) ? "lstmc_softmax_f64" : "lstmc_softmax_f32",
                gpu::SoftmaxArguments{operandOf(launch.x), operandOf(launch.length),
                                      operandOf(launch.y), rows, launch.log, launch.temperature},
                rows);
}

Launches launchesSoftmaxGradient(const SoftmaxGradientLaunch &launch, const GpuShape &) {
  const int64_t rows = launch.dx.shape[0];
  return perRow(isWide(launch.y) ? "lstmc_softmax_gradient_f64" : "lstmc_softmax_gradient_f32",
                gpu::SoftmaxGradientArguments{operandOf(launch.y), operandOf(launch.dy),
                                              operandOf(launch.length), operandOf(launch.dx), rows,
                                              launch.log, launch.temperature},
                rows);
}

Launches launchesLayerNorm(const LayerNormLaunch &launch, const GpuShape &) {
  const int64_t rows = launch.x.shape[0];
  return perRow(isWide(launch.x) ? "lstmc_layer_norm_f64" : "lstmc_layer_norm_f32",
                gpu::LayerNormArguments{operandOf(launch.x), operandOf(launch.gamma),
                                        operandOf(launch.beta), operandOf(launch.y),
                                        operandOf(launch.mean), operandOf(launch.rstd), rows,
                                        launch.epsilon},
                rows);
}

Launches launchesLayerNormGradient(const LayerNormGradientLaunch &launch, const GpuShape &) {
  const int64_t rows = launch.x.shape[0];
  return perRow(isWide(launch.x) ? "lstmc_layer_norm_gradient_f64"
                                 : "lstmc_layer_norm_gradient_f32",
                gpu::LayerNormGradientArguments{operandOf(launch.x), operandOf(launch.gamma),
                                                operandOf(launch.mean), operandOf(launch.rstd),
                                                operandOf(launch.dy), operandOf(launch.dx),
                                                operandOf(launch.dgammaRows), rows},
                rows);
}

Launches launchesNormSquared(const NormSquaredLaunch &launch, const GpuShape &) {
  std::vector<gpu::NormTensor> tensors;
  for (const Tensor &x : launch.repeated)
    tensors.push_back({operandOf(x), x.elements()});
  GpuLaunch kernel =
      launchOf("lstmc_norm_squared",
               gpu::NormArguments{
                   operandOf(launch.y), operandOf(launch.begin), {}, int64_t(tensors.size())});
  kernel.threads = gpu::kNormWarps * 32;
  kernel.sharedBytes = gpu::kNormWarps * 8;
  return {{withTable(std::move(kernel), tensors, offsetof(gpu::NormArguments, tensors))}};
}

} // namespace lstmc::cuda
