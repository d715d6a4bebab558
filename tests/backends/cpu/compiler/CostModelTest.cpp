// Fits costs to times that were computed from known costs, and finds these again.
#include <gtest/gtest.h>

#include "backends/cpu/compiler/CostModel.h"

namespace lstmc::cpu {
namespace {

TEST(CostModel, AddsUpWhatALaunchDoes) {
  Machine machine;
  machine.seconds[size_t(KernelId::RnnForward)] = {1, 2, 3, 4, 5, 6, 7, 8};
  // 2 MiB of all bytes and 3 MiB of a step's bytes are beyond the first, fast MiB.
  Work work{.flops = 10, .bytes = 3 << 20, .functions = 100, .steps = 2, .stepBytes = 4 << 20};
  EXPECT_EQ(machine.secondsOf(KernelId::RnnForward, work),
            1 + 2.0 * 10 + 3.0 * 100 + 4.0 * (3 << 20) + 5.0 * (2 << 20) + 6.0 * 2 +
                7.0 * 2 * (4 << 20) + 8.0 * 2 * (3 << 20));
}

TEST(CostModel, FitFindsTheFiguresOfAKernel) {
  Machine truth;
  truth.seconds[size_t(KernelId::Product)] = {2e-6, 1e-11, 0, 5e-11, 0, 0, 0, 0};
  std::vector<Sample> samples;
  for (int64_t m : {1, 8, 64})
    for (int64_t k : {16, 128, 512}) {
      Work work{.flops = 2 * m * k * k, .bytes = 4 * (2 * m * k + k * k)};
      samples.push_back({KernelId::Product, work, truth.secondsOf(KernelId::Product, work)});
    }
  Machine found = fit(samples, 3);
  EXPECT_EQ(found.measuredThreads, 3);
  // Except for the small weight that keeps costs near the built-in ones.
  for (const Sample &sample : samples)
    EXPECT_NEAR(found.secondsOf(KernelId::Product, sample.work) / sample.seconds, 1, 0.02);
  // A size that is not among the samples; and a kernel without samples, which keeps its built-in
  // cost.
  Work work{.flops = 2 * 32 * 256 * 256, .bytes = 4 * (2 * 32 * 256 + 256 * 256)};
  EXPECT_NEAR(found.secondsOf(KernelId::Product, work) / truth.secondsOf(KernelId::Product, work),
              1, 0.02);
  EXPECT_EQ(found.secondsOf(KernelId::Copy, work), Machine().secondsOf(KernelId::Copy, work));
}

TEST(CostModel, FitHasNothingBelowZero) {
  // Less time for more bytes: no positive cost per byte explains that; plain least squares would
  // give a negative one.
  std::vector<Sample> samples;
  for (int64_t bytes : {1000, 2000, 3000})
    samples.push_back({KernelId::Copy, {.bytes = bytes}, 1e-6 * double(4000 - bytes)});
  for (double term : fit(samples, 1).seconds[size_t(KernelId::Copy)])
    EXPECT_GE(term, 0);
}

TEST(CostModel, FitHoldsTermsThatSamplesHardlyShow) {
  // One sample is a few bytes beyond the fast MiB and a little slow. That is no reason to conclude
  // that bytes beyond take very long.
  std::vector<Sample> samples;
  for (int64_t bytes : {10'000, 100'000, 500'000, (1 << 20) + 100})
    samples.push_back({KernelId::Gather,
                       {.bytes = bytes},
                       1e-6 + 3e-11 * double(bytes) * (bytes > 1 << 20 ? 1.3 : 1)});
  Work far{.bytes = 8 << 20};
  EXPECT_LT(fit(samples, 1).secondsOf(KernelId::Gather, far),
            3 * Machine().secondsOf(KernelId::Gather, far));
}

TEST(CostModel, ScaledMeetsTheFiguresAskedFor) {
  CoreFigures figures{.flopsPerSecond = 1e12, .bytesPerSecond = 3e11, .launchSeconds = 7e-6};
  CoreFigures found = Machine::scaled(figures).figures();
  EXPECT_NEAR(found.flopsPerSecond / figures.flopsPerSecond, 1, 1e-9);
  EXPECT_NEAR(found.bytesPerSecond / figures.bytesPerSecond, 1, 1e-9);
  EXPECT_NEAR(found.launchSeconds / figures.launchSeconds, 1, 1e-9);
}

} // namespace
} // namespace lstmc::cpu
