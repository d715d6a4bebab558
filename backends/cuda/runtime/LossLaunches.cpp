#include "backends/cuda/kernels/Losses.h"
#include "backends/cuda/runtime/Groups.h"

namespace lstmc::cuda {

namespace {

/// One block, or one for each row of a metric's result.
template <typename Arguments>
Launches lossBlocks(std::string_view kernel, const Arguments &arguments, const Tensor &y,
                    int sharedBytes) {
  GpuLaunch launch = launchOf(kernel, arguments);
  launch.threads = gpu::kLossThreads;
  launch.blocks = y.rank == 2 ? y.shape[0] : 1;
  launch.sharedBytes = sharedBytes;
  return {{std::move(launch)}};
}
template <typename Arguments>
Launches metric(std::string_view kernel, const Arguments &arguments, const Tensor &y) {
  return lossBlocks(kernel, arguments, y, gpu::metricSharedBytes(y.shape[size_t(y.rank) - 1]));
}

} // namespace

Launches launchesSoftmaxOutputGradient(const SoftmaxOutputGradientLaunch &launch,
                                       const GpuShape &) {
  const bool wide = launch.p.dtype == DType::F64;
  GpuLaunch kernel =
      elementwise(wide ? "lstmc_softmax_output_gradient_f64" : "lstmc_softmax_output_gradient_f32",
                  gpu::SoftmaxOutputArguments{
                      operandOf(launch.p), operandOf(launch.label), operandOf(launch.valid),
                      operandOf(launch.dx), launch.dx.elements(), launch.useIgnore, launch.multi,
                      launch.normalization, convert<int64_t>(launch.ignoreLabel), launch.gradScale,
                      launch.smoothAlpha});
  kernel.sharedBytes = kernel.threads * 8;
  return {{std::move(kernel)}};
}

Launches launchesValidCount(const ValidCountLaunch &launch, const GpuShape &) {
  GpuLaunch kernel = launchOf("lstmc_valid_count",
                              gpu::ValidCountArguments{operandOf(launch.label), operandOf(launch.y),
                                                       convert<int64_t>(launch.ignoreLabel)});
  kernel.threads = gpu::kCountThreads;
  kernel.sharedBytes = gpu::kCountSharedBytes;
  return {{std::move(kernel)}};
}

Launches launchesSoftmaxCrossEntropy(const SoftmaxCrossEntropyLaunch &launch, const GpuShape &) {
  return lossBlocks(
      launch.x.dtype == DType::F64 ? "lstmc_softmax_cross_entropy_f64"
                                   : "lstmc_softmax_cross_entropy_f32",
      gpu::CrossEntropyArguments{operandOf(launch.x), operandOf(launch.label), operandOf(launch.y)},
      launch.y, gpu::kCrossEntropySharedBytes);
}

Launches launchesSoftmaxMetric(const SoftmaxMetricLaunch &launch, const GpuShape &) {
  return metric(launch.x.dtype == DType::F64 ? "lstmc_softmax_metric_f64"
                                             : "lstmc_softmax_metric_f32",
                gpu::SoftmaxMetricArguments{operandOf(launch.x), operandOf(launch.label),
                                            operandOf(launch.y), launch.range, launch.useIgnore,
                                            launch.valid, convert<int64_t>(launch.ignoreLabel),
                                            launch.smoothAlpha, launch.scale},
                launch.y);
}

Launches launchesRegressionMetric(const RegressionMetricLaunch &launch, const GpuShape &) {
  return metric("lstmc_regression_metric",
                gpu::RegressionMetricArguments{operandOf(launch.x), operandOf(launch.label),
                                               operandOf(launch.y), launch.range, launch.loss,
                                               launch.scale},
                launch.y);
}

Launches launchesLossMetric(const LossMetricLaunch &launch, const GpuShape &) {
  return metric("lstmc_loss_metric",
                gpu::LossMetricArguments{operandOf(launch.x), operandOf(launch.y), launch.range,
                                         launch.valid, launch.validThresh, launch.scale},
                launch.y);
}

} // namespace lstmc::cuda
