#include <cstddef>

#include "backends/cuda/kernels/Gradients.h"
#include "backends/cuda/runtime/Groups.h"

namespace lstmc::cuda {

namespace {

gpu::GradientUse useOf(const Tensor &dy, const Tensor &x) {
  gpu::GradientUse use = {};
  use.dy = dy.data;
  use.x = x.data;
  std::copy_n(dy.strides.begin(), 4, use.dyStrides);
  std::copy_n(x.strides.begin(), 4, use.xStrides);
  use.outer = dy.shape[0];
  use.inner = dy.shape[2];
  use.indexType = x && x.rank == 3 ? int32_t(x.dtype) : -1;
  return use;
}

GpuLaunch gradient(std::string_view kernel, const Tensor &y, const Tensor &begin,
                   const ShardRange &range, const std::vector<gpu::GradientUse> &uses) {
  const gpu::GradientArguments arguments = {operandOf(y),         operandOf(begin), {},
                                            int64_t(uses.size()), y.elements(),     range};
  return withTable(elementwise(kernel, arguments), uses, offsetof(gpu::GradientArguments, uses));
}

} // namespace

Launches launchesWeightGradient(const WeightGradientLaunch &launch, const GpuShape &) {
  std::vector<gpu::GradientUse> uses;
  for (size_t i = 0; i < launch.repeated.size(); i += 2)
    uses.push_back(useOf(launch.repeated[i], launch.repeated[i + 1]));
  const bool wide = launch.dw.dtype == DType::F64;
  return {{gradient(wide ? "lstmc_weight_gradient_f64" : "lstmc_weight_gradient_f32", launch.dw,
                    launch.begin, launch.range, uses)}};
}

Launches launchesBiasGradient(const BiasGradientLaunch &launch, const GpuShape &) {
  std::vector<gpu::GradientUse> uses;
  for (const Tensor &dy : launch.repeated)
    uses.push_back(useOf(dy, {}));
  const bool wide = launch.db.dtype == DType::F64;
  return {{gradient(wide ? "lstmc_bias_gradient_f64" : "lstmc_bias_gradient_f32", launch.db,
                    launch.begin, launch.range, uses)}};
}

} // namespace lstmc::cuda
