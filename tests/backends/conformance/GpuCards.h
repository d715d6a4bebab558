// GPUs for tests, real and emulated, and what the rules of --fast may change on them.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include <gtest/gtest.h>

#include "backends/conformance/DeviceRun.h"
#include "backends/cpu/runtime/KernelTable.h"
#include "backends/cuda/emulated/EmulatedDriver.h"
#include "backends/cuda/images/Images.h"
#include "backends/cuda/runtime/GpuDevice.h"

namespace lstmc::conformance {

inline KernelFunction hostKernel(KernelId id, std::span<const Tensor> operands) {
  return cpu::kernelTable(cpu::machineLevel()).find(id, operands);
}

/// The GPU of this machine; E0501 if there is none. `way`, `compiler` and `tiles` as in
/// GpuOptions.
inline Result<std::unique_ptr<Device>> realGpu(std::optional<cuda::AskedWay> way = std::nullopt,
                                               const cuda::TextCompiler *compiler = nullptr,
                                               std::optional<bool> tiles = std::nullopt) {
  LSTMC_ASSIGN(const cuda::Driver *driver, cuda::machineDriver());
  if (cuda::kernelImages().empty())
    return fail(ErrorCode::E0501, "the build had no nvcc");
  return cuda::makeGpuDevice("gpu:0", *driver,
                             {.images = cuda::kernelImages(),
                              .onHost = hostKernel,
                              .compiler = compiler,
                              .cudnn = cuda::machineCudnn,
                              .way = way,
                              .tiles = tiles});
}

/// Runs the launch as a package of this rule does.
inline TestLaunch runFast(Device &device, const TestLaunch &launch, FastRules rule) {
  TestLaunch done = launch.clone();
  const Status status = runOn(device, done, rule);
  EXPECT_TRUE(status.ok()) << status.error().text();
  return done;
}

/// An emulated GPU; `cluster` as in GpuOptions. Each has a card of its own, because one with a
/// fault fails every call.
inline Device &fastCard(std::optional<int> cluster = std::nullopt) {
  static std::map<int, std::unique_ptr<Device>> cards;
  std::unique_ptr<Device> &card = cards[cluster.value_or(-1)];
  if (!card)
    card = std::move(*cuda::makeGpuDevice("emu-fast", cuda::emulatedDriver(),
                                          {.card = 20 + cluster.value_or(-1),
                                           .images = cuda::emulatedImages(),
                                           .onHost = hostKernel,
                                           .way = cluster}));
  return *card;
}
inline TestLaunch onFastCard(const TestLaunch &launch, FastRules rule,
                             std::optional<int> cluster = std::nullopt) {
  return runFast(fastCard(cluster), launch, rule);
}

/// What flushing may change in f32.
inline constexpr double kDenormal = 0x1p-126;

/// What rounding to the type of a rule may change: relative, and of numbers near 0.
struct Rounding {
  double unit, nearZero;
};
inline Rounding roundingOf(FastRules rule) {
  return rule.roundedTo == RoundedTo::Bf16   ? Rounding{0x1p-8, kDenormal}
         : rule.roundedTo == RoundedTo::Fp16 ? Rounding{0x1p-11, 0x1p-25}
         : rule.roundedTo == RoundedTo::Tf32 ? Rounding{0x1p-11, kDenormal}
                                             : Rounding{0, kDenormal};
}

/// A product a b of rounded operands is within (2 u + u^2) |a b| of the exact one, and, where an
/// operand is so near to 0 that its rounding is not relative, within that of the other operand,
/// which is at most 1 in these tests. The sum of K of them in f32, in whatever order and if the
/// last digit is cut off, as tensor cores may, adds K 2^-23 of the sum of their magnitudes. The
/// exact results that are compared with are those of the reference, perhaps in f32 too,
/// which flushes sums and the bias.
inline double boundOf(double magnitudes, double terms, FastRules rule) {
  const Rounding r = roundingOf(rule);
  const double products = (2 * r.unit + r.unit * r.unit) * magnitudes + 2 * terms * r.nearZero;
  return products + (2 * terms + 8) * 0x1p-23 * (magnitudes + products) + (terms + 2) * kDenormal;
}

} // namespace lstmc::conformance
