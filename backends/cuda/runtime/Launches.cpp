#include "backends/cuda/runtime/Launches.h"

#include "backends/cuda/runtime/Groups.h"

namespace lstmc::cuda {

static_assert(gpu::kRank == kMaxRank);
static_assert(int(DType::F32) == 0 && int(DType::F64) == 1 && int(DType::F16) == 2 &&
              int(DType::BF16) == 3 && int(DType::I8) == 4 && int(DType::U8) == 5 &&
              int(DType::I32) == 6 && int(DType::I64) == 7 && int(DType::Bool) == 8);

gpu::Operand operandOf(const Tensor &tensor) {
  gpu::Operand operand = {tensor.data, int32_t(tensor.dtype), tensor.rank, {}, {}};
  std::copy_n(tensor.shape.begin(), size_t(tensor.rank), operand.shape);
  std::copy_n(tensor.strides.begin(), size_t(tensor.rank), operand.strides);
  return operand;
}

Launches gpuLaunches(KernelId id, const LaunchArgs &args, const GpuShape &gpu) {
  switch (id) {
#define LSTMC_KERNEL(ID, NAME, OPERANDS, INTS, FLOATS, MEANING)                                    \
  case KernelId::ID:                                                                               \
    return launches##ID(ID##Launch(args), gpu);
#include "executor/abi/Kernels.def"
  default:
    return std::nullopt; // transfers, which a session carries out
  }
}

} // namespace lstmc::cuda
