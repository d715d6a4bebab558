// Nets compiled and planned for targets other than the CPU: choices and forecasts come from each
// device's target.
#include <gtest/gtest.h>

#include "backends/null/compiler/NullTarget.h"
#include "backends/registry/Targets.h"
#include "passes/planning/Layouts.h"
#include "passes/planning/PackageForecast.h"
#include "tests/e2e/Net.h"

namespace lstmc::planning {
namespace {

passes::Compiled compiledFor(std::vector<std::string> devices,
                             passes::CompileOptions options = {}) {
  e2e::Recipe recipe = e2e::models().front().recipe;
  options.optimizer = recipe.compile.optimizer;
  options.carry = recipe.compile.carry;
  options.devices = std::move(devices);
  recipe.compile = std::move(options);
  return e2e::compileNet(recipe);
}

const package::Entry &stepOf(const package::PackageData &data) {
  for (const package::Entry &entry : data.entries)
    if (entry.name == "step")
      return entry;
  throw std::runtime_error("no step");
}

/// Steps in a projection of each recurrent layer of a program.
std::vector<int64_t> chunksOf(const package::DeviceProgram &program) {
  std::vector<int64_t> chunks;
  for (const package::Launch &launch : program.launches)
    if (launch.kernel == KernelId::RnnForward)
      chunks.push_back(argumentsOf<RnnForwardArguments>(launch).chunk);
  return chunks;
}

TEST(Targets, EveryKindOfDeviceHasOne) {
  EXPECT_EQ(&targetOf("null:0"), &null::nullTarget());
  EXPECT_EQ(&targetOf(DeviceKind::Null), &targetOf("null:7"));
  EXPECT_EQ(&targetOf("trap:0"), &targetOf("cpu:1"));
  EXPECT_NE(&targetOf("cpu:0"), &targetOf("null:0"));
  EXPECT_EQ(&targetOf("gpu:0"), &targetOf("emu:3"));
  EXPECT_NE(&targetOf("gpu:0"), &targetOf("cpu:0"));
}

TEST(Targets, AGpuProjectsItsStepsOneByOne) {
  package::PackageData data = compiledFor({"emu:0"}).package;
  EXPECT_EQ(data.devices[0].name, "emu:0");
  for (int64_t chunk : chunksOf(stepOf(data).programs[0]))
    EXPECT_EQ(chunk, 1);
}

TEST(Targets, AGpuIsAsFastAsItIsSaidToBe) {
  const target::Target &gpu = targetOf("gpu:0");
  const target::Machine slow = gpu.withSpeeds({}, {1e12, 1e11, 1e-5});
  EXPECT_EQ(gpu.speeds(slow).bytesPerSecond, 1e11);
  const target::Work work = {.flops = int64_t(1e12), .bytes = int64_t(1e9)};
  EXPECT_DOUBLE_EQ(gpu.launchSeconds(slow, KernelId::Product, work), 1e-5 + 1);
  EXPECT_DOUBLE_EQ(gpu.launchSeconds(gpu.slowed(slow, 2), KernelId::Product, work), 2e-5 + 2);
  EXPECT_LT(gpu.launchSeconds({}, KernelId::Product, work), 0.1);
}

TEST(Targets, ANetIsCompiledAsTheNullTargetChooses) {
  package::PackageData data = compiledFor({"null:0"}).package;
  EXPECT_EQ(data.devices[0].name, "null:0");
  std::vector<int64_t> chunks = chunksOf(stepOf(data).programs[0]);
  ASSERT_FALSE(chunks.empty());
  EXPECT_EQ(chunks, std::vector<int64_t>(chunks.size(), 1));
  // The same net on a cpu is projected several steps at a time.
  for (int64_t chunk : chunksOf(stepOf(compiledFor({"cpu:0"}).package).programs[0]))
    EXPECT_GT(chunk, 1);
}

TEST(Targets, EveryLaunchOfANullDeviceCostsTheSame) {
  package::PackageData data = compiledFor({"null:0"}).package;
  const size_t launches = stepOf(data).programs[0].launches.size();
  EXPECT_NEAR(*forecastSeconds(data, "step", target::Machines(1)),
              double(launches) * null::kLaunchSeconds, 1e-12 * double(launches));
  target::Machine slow = targetOf("null:0").slowed({}, 3);
  EXPECT_NEAR(*forecastSeconds(data, "step", {slow}), 3 * double(launches) * null::kLaunchSeconds,
              1e-12 * double(launches));
}

TEST(Targets, TwoNullDevicesShareABatch) {
  package::PackageData data = compiledFor({"null:0", "null:1"}).package;
  PackageForecast forecast = forecastPackage(data, target::Machines(1));
  EXPECT_EQ(forecast.idle.size(), 2u);
  EXPECT_GT(forecast.sentBytes, 0);
  EXPECT_EQ(forecast.rates, "built-in");
}

TEST(Targets, DevicesOfOnePlanAreAskedEachForItself) {
  package::PackageData data = compiledFor({"cpu:0", "null:0"}).package;
  const package::Entry &step = stepOf(data);
  ASSERT_EQ(step.programs.size(), 2u);
  for (int64_t chunk : chunksOf(step.programs[0]))
    EXPECT_GT(chunk, 1);
  for (int64_t chunk : chunksOf(step.programs[1]))
    EXPECT_EQ(chunk, 1);
  EntryTimes times = forecast(data, step, target::Machines(1));
  for (size_t i = 0; i < step.programs[1].launches.size(); ++i) {
    const LaunchTime &time = times.programs[1].launches[i];
    if (!isTransfer(step.programs[1].launches[i].kernel)) {
      EXPECT_NEAR(time.end - time.begin, null::kLaunchSeconds, 1e-12);
    }
  }
  EXPECT_GT(times.programs[0].busy, times.programs[1].busy);
}

/// A null device finishes immediately, so it is best used alone: nothing has to be sent to it.
TEST(Targets, ALayoutIsWeighedByTheTargetsOfItsDevices) {
  passes::CompileOptions open;
  open.stages = 0;
  open.machines = target::Machines(2);
  passes::Compiled compiled = compiledFor({"cpu:0", "null:0"}, open);
  ASSERT_FALSE(compiled.layouts.empty());
  EXPECT_EQ(compiled.layouts.front().names, std::vector<std::string>{"null:0"});
  EXPECT_EQ(compiled.package.devices[0].name, "null:0");
  // The net was compiled for that target, and is not a program of the cpu under another name.
  for (int64_t chunk : chunksOf(stepOf(compiled.package).programs[0]))
    EXPECT_EQ(chunk, 1);
  EXPECT_EQ(compiled.layouts.front().seconds,
            *forecastSeconds(compiled.package, "step", target::Machines(1)));
}

} // namespace
} // namespace lstmc::planning
