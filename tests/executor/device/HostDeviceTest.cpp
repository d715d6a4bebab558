#include "executor/device/HostDevice.h"
#include "executor/base/Poison.h"
#include "executor/device/KernelLaunch.h"

#include <cstring>

#include <gtest/gtest.h>

namespace lstmc {
namespace {

void fill(const LaunchArgs &args, Worker &worker) {
  const FillLaunch launch(args);
  const Tensor &y = launch.y;
  int64_t n = y.elements();
  for (int64_t i = worker.index * n / worker.count; i < (worker.index + 1) * n / worker.count; ++i)
    y.as<float>()[i] = float(launch.value);
}

// Reversed, so that each worker reads what others wrote in the previous launch.
void reverse(const LaunchArgs &args, Worker &worker) {
  const Tensor &x = args.operands[0], &y = args.operands[1];
  int64_t n = y.elements();
  for (int64_t i = worker.index * n / worker.count; i < (worker.index + 1) * n / worker.count; ++i)
    y.as<float>()[i] = x.as<float>()[n - 1 - i] + 1;
}

KernelFunction choose(KernelId id, std::span<const Tensor>) {
  return id == KernelId::Fill ? fill : id == KernelId::Copy ? reverse : nullptr;
}

constexpr int64_t kN = 1000;

Tensor vectorAt(Device &device, uint64_t offset) {
  Tensor tensor;
  tensor.data = device.arena() + offset;
  tensor.rank = 1;
  tensor.shape[0] = kN;
  tensor.strides[0] = 1;
  return tensor;
}

std::vector<LaunchSpec> chain(Device &device) {
  Tensor a = vectorAt(device, 0), b = vectorAt(device, 4096);
  return {{KernelId::Fill, {a}, {}, {7}},
          {KernelId::Copy, {a, b}, {}, {}},
          {KernelId::Copy, {b, a}, {}, {}},
          {KernelId::Copy, {a, b}, {}, {}}};
}

class Threads : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Counts, Threads, testing::Values(1, 2, 5));

TEST_P(Threads, LaunchesRunInOrder) {
  auto device = std::move(*makeHostDevice("cpu:0", choose, GetParam()));
  EXPECT_EQ(device->threads(), GetParam());
  ASSERT_TRUE(device->allocate(8192).ok());
  EXPECT_EQ(device->touchedBytes(), 0u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(device->arena()) % 64, 0u);
  auto program = device->prepare(chain(*device));
  ASSERT_TRUE(program.ok());
  device->run(**program, 0, 4);
  std::vector<float> b(kN);
  device->copyOut(4096, std::as_writable_bytes(std::span(b)));
  EXPECT_EQ(b, std::vector<float>(kN, 10));
  EXPECT_EQ(device->touchedBytes(), 8192u);
  // A part of the list: a becomes b + 1 = 11, b becomes a + 1 = 12.
  device->run(**program, 2, 4);
  device->copyOut(4096, std::as_writable_bytes(std::span(b)));
  EXPECT_EQ(b, std::vector<float>(kN, 12));
}

TEST_P(Threads, WhenLaunchesRanIsTold) {
  auto device = std::move(*makeHostDevice("cpu:0", choose, GetParam()));
  ASSERT_TRUE(device->allocate(8192).ok());
  auto program = device->prepare(chain(*device));
  ASSERT_TRUE(program.ok());
  using Clock = LaunchInterval::Clock;
  std::vector<LaunchInterval> times(4);
  Clock::time_point before = Clock::now();
  device->run(**program, 1, 4, &times[1]);
  Clock::time_point after = Clock::now();
  EXPECT_EQ(times[0].end, Clock::time_point());
  EXPECT_LE(before, times[1].begin);
  for (size_t i = 1; i < 4; ++i) {
    EXPECT_LE(times[i].begin, times[i].end) << i;
    EXPECT_EQ(times[i].end, i == 3 ? times[3].end : times[i + 1].begin) << i;
  }
  EXPECT_LE(times[3].end, after);
}

TEST(HostDevice, KernelThatItLacksIsNamed) {
  auto device = std::move(*makeHostDevice("cpu:0", choose, 1));
  ASSERT_TRUE(device->allocate(64).ok());
  auto program = device->prepare({{KernelId::Gather, {}, {}, {}}});
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.error().text(), "error[E0402]: cpu:0 has no kernel \"gather\" for these types");
}

TEST(HostDevice, ArenaThatCannotBeHadIsAnError) {
  auto device = std::move(*makeHostDevice("cpu:0", choose, 1));
  Status status = device->allocate(uint64_t(1) << 62);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message.substr(0, 66),
            "cpu:0: found no memory for an arena of 4611686018427387904 bytes: ");
}

TEST(HostDevice, LargeArenaIsZeroedAndOnAHugePage) {
  auto device = std::move(*makeHostDevice("cpu:0", choose, 1));
  ASSERT_TRUE(device->allocate((5 << 20) + 64).ok());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(device->arena()) % (2 << 20), 0u);
  std::vector<std::byte> last(64, std::byte(1));
  device->copyOut(5 << 20, last);
  EXPECT_EQ(last, std::vector<std::byte>(64));
}

// The arena is below 2 MiB and its size is a multiple of the alignment of buffers.
TEST(HostDeviceDeathTest, ArenaLiesBetweenPagesThatNobodyMayTouch) {
  auto device = std::move(*makeHostDevice("cpu:0", choose, 1));
  ASSERT_TRUE(device->allocate(4096 + 64).ok());
  volatile char *arena = reinterpret_cast<volatile char *>(device->arena());
  arena[4096 + 63] = 1;
  EXPECT_DEATH(arena[4096 + 64] = 1, "");
  EXPECT_DEATH(arena[-4096] = 1, "");
  ASSERT_TRUE(device->allocate((5 << 20) + 64).ok());
  arena = reinterpret_cast<volatile char *>(device->arena());
  EXPECT_DEATH(arena[-1] = 1, "");
  EXPECT_DEATH(arena[(5 << 20) + 4096] = 1, "");
}

// AddressSanitizer reports a kernel that goes beyond its operand, even inside the arena.
TEST(HostDeviceDeathTest, LaunchReachesItsOperandsAlone) {
  if constexpr (!kPoisons)
    GTEST_SKIP() << "built without AddressSanitizer";
  auto device = std::move(*makeHostDevice(
      "cpu:0",
      [](KernelId, std::span<const Tensor>) -> KernelFunction {
        return [](const LaunchArgs &args, Worker &) {
          const FillLaunch launch(args);
          launch.y.as<float>()[int64_t(launch.value)] = 1;
        };
      },
      1));
  ASSERT_TRUE(device->allocate(8192).ok());
  auto fillAt = [&](double element) {
    auto program = device->prepare({{KernelId::Fill, {vectorAt(*device, 0)}, {}, {element}}});
    device->run(**program, 0, 1);
  };
  fillAt(kN - 1);
  EXPECT_DEATH(fillAt(kN), "use-after-poison");
  device->arena()[4 * kN] = std::byte(1); // the host may access the arena again
}

} // namespace
} // namespace lstmc
