// The cuda target on an emulated GPU, and on a real one where there is one.
#include <gtest/gtest.h>

#include "backends/conformance/Conformance.h"
#include "backends/cpu/runtime/KernelTable.h"
#include "backends/cuda/emulated/EmulatedDriver.h"
#include "backends/cuda/images/Images.h"
#include "backends/cuda/runtime/GpuDevice.h"

namespace lstmc::conformance {

static KernelFunction hostKernel(KernelId id, std::span<const Tensor> operands) {
  return cpu::kernelTable(cpu::machineLevel()).find(id, operands);
}

/// One host thread runs all threads of the GPU. `cluster` as in GpuOptions; each has a card of its
/// own, because one with a fault fails every call.
static Target emulated(const std::string &name, std::optional<int> cluster) {
  auto make = [name, cluster](int) {
    return cuda::makeGpuDevice(name, cuda::emulatedDriver(),
                               {.card = cluster.value_or(-1) + 1,
                                .images = cuda::emulatedImages(),
                                .onHost = hostKernel,
                                .cluster = cluster});
  };
  return {name, make, "", {1}};
}
static const Target kEmulated = emulated("emu", std::nullopt);
LSTMC_CONFORMANCE(EmulatedGpu, kEmulated);

/// Each way of a recurrent layer: weights through the cache, on the chip of a block, of a cluster.
class EmulatedRecurrence : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Clusters, EmulatedRecurrence, testing::Values(0, 1, 2, 4, 8));

TEST_P(EmulatedRecurrence, GivesTheBitsOfTheReference) {
  const Target target = emulated("emu-" + std::to_string(GetParam()), GetParam());
  conform(target, KernelId::RnnForward);
  conform(target, KernelId::RnnBackward);
}

static Result<std::unique_ptr<Device>> realGpu(int) {
  LSTMC_ASSIGN(const cuda::Driver *driver, cuda::machineDriver());
  if (cuda::kernelImages().empty())
    return fail(ErrorCode::E0501, "the build had no nvcc");
  return cuda::makeGpuDevice("gpu:0", *driver,
                             {.images = cuda::kernelImages(), .onHost = hostKernel});
}
static const Target kReal{"gpu", realGpu, "", {1}};

TEST(RealGpu, GivesTheBitsOfTheReference) {
  if (auto device = realGpu(1); !device.ok())
    GTEST_SKIP() << device.error().message;
  for (KernelId id : allKernels())
    conform(kReal, id);
}

} // namespace lstmc::conformance
