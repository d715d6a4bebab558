// The cuda target on an emulated GPU, and on a real one where there is one.
#include <string>

#include <gtest/gtest.h>

#include "backends/conformance/Conformance.h"
#include "backends/cuda/text/Nvrtc.h"
#include "tests/backends/conformance/CompiledFused.h"
#include "tests/backends/conformance/GpuCards.h"

namespace lstmc::conformance {

/// One host thread runs all threads of the GPU. `cluster` and `tiles` as in GpuOptions; each has a
/// card of its own, because one with a fault fails every call.
static Target emulated(const std::string &name, cuda::CardNumber card, std::optional<int> cluster,
                       std::optional<bool> tiles = std::nullopt) {
  auto make = [=](int) {
    return cuda::makeGpuDevice(name, cuda::emulatedDriver(),
                               {.card = card,
                                .images = cuda::emulatedImages(),
                                .onHost = hostKernel,
                                .way = cluster,
                                .tiles = tiles});
  };
  return {name, make, "", {1}};
}
static const Target kEmulated = emulated("emu", 0, std::nullopt);
LSTMC_CONFORMANCE(EmulatedGpu, kEmulated);

/// Each way of a recurrent layer: step by step, weights through the cache, on the chip of a block,
/// of a cluster.
class EmulatedRecurrence : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Clusters, EmulatedRecurrence, testing::Values(-1, 0, 1, 2, 4, 8, 16));

TEST_P(EmulatedRecurrence, GivesTheBitsOfTheReference) {
  const Target target = emulated("emu" + std::to_string(GetParam()), GetParam() + 2, GetParam());
  conform(target, KernelId::RnnForward);
  conform(target, KernelId::RnnBackward);
}

/// By tiles, which few of the cases are large enough for, and with one result for a thread.
class EmulatedProducts : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Tiles, EmulatedProducts, testing::Bool());

TEST_P(EmulatedProducts, GiveTheBitsOfTheReference) {
  const Target target =
      emulated(GetParam() ? "emu-tiles" : "emu-ones", 12 + GetParam(), std::nullopt, GetParam());
  conform(target, KernelId::Product);
  conform(target, KernelId::WeightGradient);
}

/// Their products have gates, and all steps have one matrix.
TEST(EmulatedTiles, GiveTheBitsOfTheReferenceInRecurrentLayers) {
  const Target target = emulated("emu-tiles-steps", 14, -1, true);
  conform(target, KernelId::RnnForward);
  conform(target, KernelId::RnnBackward);
}

static Target real(const std::string &name, std::optional<int> cluster,
                   std::optional<bool> tiles = std::nullopt) {
  return {name, [=](int) { return realGpu(cluster, nullptr, tiles); }, "", {1}};
}

/// Each by itself, so that one that a GPU cannot go on after hides no other where each has a
/// process (tests/gpu/stages.py).
class RealGpuKernels : public testing::TestWithParam<KernelId> {};
INSTANTIATE_TEST_SUITE_P(Kernels, RealGpuKernels, testing::ValuesIn(allKernels()),
                         [](const testing::TestParamInfo<KernelId> &info) {
                           return std::string(kernelRecord(info.param).name);
                         });

TEST_P(RealGpuKernels, GiveTheBitsOfTheReference) {
  if (auto device = realGpu(); !device.ok())
    GTEST_SKIP() << device.error().message;
  conform(real("gpu", std::nullopt), GetParam());
}

class RealGpuRecurrence : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Clusters, RealGpuRecurrence, testing::Values(0, 1, 2, 4, 8, 16));

TEST_P(RealGpuRecurrence, GivesTheBitsOfTheReference) {
  if (auto device = realGpu(); !device.ok())
    GTEST_SKIP() << device.error().message;
  const Target target = real("gpu-" + std::to_string(GetParam()), GetParam());
  conform(target, KernelId::RnnForward);
  conform(target, KernelId::RnnBackward);
}

class RealGpuProducts : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Tiles, RealGpuProducts, testing::Bool());

TEST_P(RealGpuProducts, GiveTheBitsOfTheReference) {
  if (auto device = realGpu(); !device.ok())
    GTEST_SKIP() << device.error().message;
  const Target target = real(GetParam() ? "gpu-tiles" : "gpu-ones", -1, GetParam());
  for (KernelId id :
       {KernelId::Product, KernelId::WeightGradient, KernelId::RnnForward, KernelId::RnnBackward})
    conform(target, id);
}

TEST(RealGpu, GivesTheBitsOfTheReferenceByCompiledPrograms) {
  int version = 0;
  const Result<const cuda::Driver *> driver = cuda::machineDriver();
  if (!driver.ok())
    GTEST_SKIP() << driver.error().message;
  (*driver)->driverVersion(&version);
  const Result<const cuda::TextCompiler *> compiler = cuda::machineCompiler(version);
  ASSERT_TRUE(compiler.ok()) << compiler.error().message;
  auto device = realGpu(std::nullopt, *compiler);
  ASSERT_TRUE(device.ok()) << device.error().message;
  expectCompiledBits(**device, fusedLaunches());
}

} // namespace lstmc::conformance
