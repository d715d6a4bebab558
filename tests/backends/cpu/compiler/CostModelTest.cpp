// Fits costs to times that were computed from known costs, and finds these again.
#include <gtest/gtest.h>

#include "backends/cpu/compiler/CostModel.h"
#include "backends/cpu/compiler/CpuTarget.h"

namespace lstmc::cpu {
namespace {

using target::Machine;
using target::Sample;
using target::Speeds;
using target::Work;

TEST(CostModel, AddsUpWhatALaunchDoes) {
  Machine machine = withTerms({}, KernelId::RnnForward, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  // 2 MiB of all bytes and 3 MiB of a step's bytes are beyond the first, fast MiB, and of 3 steps 2
  // read theirs again; 17 units are two blocks, and computed as 32.
  Work work{.flops = 10,
            .bytes = 3 << 20,
            .functions = 100,
            .rows = 7,
            .instructions = 13,
            .steps = 3,
            .stepBytes = 4 << 20,
            .stepUnits = 17};
  EXPECT_EQ(secondsOf(machine, KernelId::RnnForward, work),
            1 + 2.0 * (10 * (32.0 / 17)) + 3.0 * 100 + 4.0 * (3 << 20) + 5.0 * (2 << 20) + 6.0 * 3 +
                7.0 * 2 * (4 << 20) + 8.0 * 2 * (3 << 20) + 9.0 * 3 * 2 + 10.0 * 7 + 11.0 * 7 * 2 +
                12.0 * 13);
}

TEST(CostModel, SumsOfShardsCountAsSteps) {
  Machine machine = withTerms({}, KernelId::WeightGradient, {1, 2, 0, 0, 0, 6, 7, 8, 9, 10, 11, 0});
  Work work{.flops = 10, .rows = 7, .width = 8, .sums = 2, .sumBytes = 3 << 20};
  EXPECT_EQ(secondsOf(machine, KernelId::WeightGradient, work),
            1 + 2.0 * 20 + 6.0 * 2 + 7.0 * 2 * (6 << 20) + 8.0 * 2 * (2 << 20) + 10.0 * 7 +
                11.0 * 7);
}

TEST(CostModel, FitFindsTheFiguresOfAKernel) {
  Machine truth = withTerms({}, KernelId::Product, {2e-6, 1e-11, 0, 5e-11, 0, 0, 0, 0});
  std::vector<Sample> samples;
  for (int64_t m : {1, 8, 64})
    for (int64_t k : {16, 128, 512}) {
      Work work{.flops = 2 * m * k * k, .bytes = 4 * (2 * m * k + k * k)};
      samples.push_back({KernelId::Product, work, secondsOf(truth, KernelId::Product, work)});
    }
  Machine found = fit(samples, 3);
  EXPECT_EQ(found.measuredThreads, 3);
  // Except for the small weight that keeps costs near the built-in ones.
  for (const Sample &sample : samples)
    EXPECT_NEAR(secondsOf(found, KernelId::Product, sample.work) / sample.seconds, 1, 0.02);
  // A size that is not among the samples; and a kernel without samples, which keeps its built-in
  // cost, but for that of a launch.
  Work work{.flops = 2 * 32 * 256 * 256, .bytes = 4 * (2 * 32 * 256 + 256 * 256)};
  EXPECT_NEAR(secondsOf(found, KernelId::Product, work) / secondsOf(truth, KernelId::Product, work),
              1, 0.02);
  EXPECT_NEAR(secondsOf(found, KernelId::Copy, work) - secondsOf({}, KernelId::Copy, work),
              secondsOf(found, KernelId::Product, {}) - secondsOf({}, KernelId::Copy, {}), 1e-12);
}

TEST(CostModel, FitHasNothingBelowZero) {
  // Less time for more bytes: no positive cost per byte explains that; plain least squares would
  // give a negative one.
  std::vector<Sample> samples;
  for (int64_t bytes : {1000, 2000, 3000})
    samples.push_back({KernelId::Copy, {.bytes = bytes}, 1e-6 * double(4000 - bytes)});
  for (double figure : fit(samples, 1).figures)
    EXPECT_GE(figure, 0);
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
  EXPECT_LT(secondsOf(fit(samples, 1), KernelId::Gather, far),
            3 * secondsOf({}, KernelId::Gather, far));
}

TEST(CostModel, FitFollowsLaunchesThatWeighInTheirEntry) {
  // A launch of no work takes 1 us in an entry that it fills, and 6 us after one of megabytes.
  std::vector<Sample> samples = {{KernelId::Fill, {}, 1e-6, 1}, {KernelId::Fill, {}, 6e-6, 0.01}};
  EXPECT_NEAR(secondsOf(fit(samples, 1), KernelId::Fill, {}), 1e-6, 2e-8);
}

TEST(CostModel, ScaledMeetsTheFiguresAskedFor) {
  Speeds asked{.flopsPerSecond = 1e12, .bytesPerSecond = 3e11, .launchSeconds = 7e-6};
  Speeds found = speeds(withSpeeds(asked));
  EXPECT_NEAR(found.flopsPerSecond / asked.flopsPerSecond, 1, 1e-9);
  EXPECT_NEAR(found.bytesPerSecond / asked.bytesPerSecond, 1, 1e-9);
  EXPECT_NEAR(found.launchSeconds / asked.launchSeconds, 1, 1e-9);
}

TEST(CostModel, ASlowedMachineTakesSoManyTimesAsLong) {
  Work work{.flops = 1 << 20, .bytes = 3 << 20};
  Machine slow = cpuTarget().slowed({}, 4);
  EXPECT_EQ(secondsOf(slow, KernelId::Product, work), 4 * secondsOf({}, KernelId::Product, work));
  EXPECT_EQ(slow.figures.size(), cpuTarget().figureNames().size());
}

} // namespace
} // namespace lstmc::cpu
