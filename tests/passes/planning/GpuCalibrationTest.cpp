// Calibration of an emulated GPU with small sizes: the rates are meaningless, but they are stored,
// and forecasts find them.
#include <gtest/gtest.h>

#include "backends/registry/Targets.h"
#include "passes/planning/rates/MachineRates.h"
#include "tests/executor/data/Files.h"

namespace lstmc::planning {
namespace {

constexpr GpuProbe kSmall = {.extent = 16,
                             .elements = 1 << 14,
                             .launches = 2,
                             .steps = 2,
                             .batch = 2,
                             .hidden = 8,
                             .rounds = 3};

TEST(GpuCalibration, IsKeptByTheNameOfTheCard) {
  const test::TemporaryFolder cache;
  setenv("LSTMC_CACHE_DIR", cache.path().c_str(), 1);
  const DeviceName device = {DeviceKind::Emu, 0};
  const target::Target &target = targetOf(DeviceKind::Emu);
  const target::Machine before = gpuMachineOf(device);
  EXPECT_EQ(before.measuredThreads, 0);
  EXPECT_EQ(target.speeds(before).flopsPerSecond, target.speeds({}).flopsPerSecond);

  const Status status = calibrateGpu(device, kSmall);
  ASSERT_TRUE(status.ok()) << status.error().message;
  for (const target::Machine &after : {gpuMachineOf(device), machinesOf({device}, 1).front()}) {
    EXPECT_EQ(after.measuredThreads, 1);
    const target::Speeds speeds = target.speeds(after), built = target.speeds(before);
    EXPECT_TRUE(speeds.flopsPerSecond > 0 && speeds.flopsPerSecond < built.flopsPerSecond);
    EXPECT_TRUE(speeds.bytesPerSecond > 0 && speeds.bytesPerSecond < built.bytesPerSecond);
    EXPECT_TRUE(speeds.launchSeconds > 0 && speeds.launchSeconds < 10);
    EXPECT_EQ(after.figures.size(), before.figures.size());
    EXPECT_GT(after.figures.end()[-3], 1); // recurrences are slower than a GPU's
  }
  // A measured card still has the shape that chooses kernels; the last three are rates again.
  const target::Machine after = gpuMachineOf(device);
  EXPECT_TRUE(
      std::equal(after.figures.begin() + 3, after.figures.end() - 3, before.figures.begin() + 3));
}

TEST(GpuCalibration, RefusesACardThatIsNotHere) {
  const Status status = calibrateGpu({DeviceKind::Emu, 1000}, kSmall);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::E0501);
}

} // namespace
} // namespace lstmc::planning
