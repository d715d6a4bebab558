#include "backends/cuda/model/TableBytes.h"

#include <algorithm>

#include "backends/cuda/kernels/Fused.h"
#include "backends/cuda/kernels/Gradients.h"
#include "backends/cuda/kernels/Reductions.h"
#include "executor/abi/Packing.h"

namespace lstmc::cuda {

/// Each is aligned.
int64_t tableBytes(KernelId kernel, int64_t operands, int64_t rank, int64_t ints,
                   int64_t instructions) {
  const auto repeated = [&](size_t fixed) {
    return std::max<int64_t>(operands - int64_t(fixed), 0);
  };
  int64_t bytes = 0;
  switch (kernel) {
  case KernelId::Fused:
    bytes = (operands * (3 + rank) + ints) * int64_t(sizeof(uint64_t)) +
            instructions * int64_t(sizeof(gpu::FusedStep));
    break;
  case KernelId::WeightGradient:
    bytes = repeated(WeightGradientOperand::kFixed) / 2 * int64_t(sizeof(gpu::GradientUse));
    break;
  case KernelId::BiasGradient:
    bytes = repeated(BiasGradientOperand::kFixed) * int64_t(sizeof(gpu::GradientUse));
    break;
  case KernelId::NormSquared:
    bytes = repeated(NormSquaredOperand::kFixed) * int64_t(sizeof(gpu::NormTensor));
    break;
  default:
    break;
  }
  return roundUp(bytes, kAlignment);
}

} // namespace lstmc::cuda
