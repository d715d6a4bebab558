// Kernels that the host carries out.
#include "backends/cuda/runtime/Groups.h"

namespace lstmc::cuda {

#define LSTMC_ON_HOST(ID)                                                                          \
  Launches launches##ID(const ID##Launch &) { return std::nullopt; }
LSTMC_ON_HOST(Fused)
LSTMC_ON_HOST(Arange)
LSTMC_ON_HOST(WeightGradient)
LSTMC_ON_HOST(BiasGradient)
LSTMC_ON_HOST(Reduce)
LSTMC_ON_HOST(Softmax)
LSTMC_ON_HOST(SoftmaxGradient)
LSTMC_ON_HOST(SoftmaxOutputGradient)
LSTMC_ON_HOST(ValidCount)
LSTMC_ON_HOST(SoftmaxCrossEntropy)
LSTMC_ON_HOST(LayerNorm)
LSTMC_ON_HOST(LayerNormGradient)
LSTMC_ON_HOST(NormSquared)
LSTMC_ON_HOST(SoftmaxMetric)
LSTMC_ON_HOST(RegressionMetric)
LSTMC_ON_HOST(LossMetric)
LSTMC_ON_HOST(Initialise)

} // namespace lstmc::cuda
