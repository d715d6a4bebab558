// The device that shuffles its streams: any order that events leave, and no other.
#include <set>

#include <gtest/gtest.h>

#include "backends/trap/runtime/Shuffle.h"
#include "executor/device/HostDevice.h"
#include "executor/device/KernelLaunch.h"

namespace lstmc {
namespace {

/// y = 10 y + value, so that the digits of y are the launches in their order.
void append(const LaunchArgs &args, Worker &worker) {
  const FillLaunch launch(args);
  if (worker.index == 0)
    *launch.y.as<float>() = 10 * *launch.y.as<float>() + float(launch.value);
}

/// A device and launches that append the digits 1 to 4.
struct Shuffled {
  explicit Shuffled(uint64_t seed) {
    auto choose = [](KernelId, std::span<const Tensor>) -> KernelFunction { return append; };
    device = trap::makeShuffleDevice(std::move(*makeHostDevice("cpu:0", choose, 1)), seed);
    EXPECT_TRUE(device->allocate(64).ok());
    EXPECT_TRUE(device->reserve(3, 2).ok());
    Tensor y;
    y.dtype = DType::F32;
    y.rank = 1;
    y.shape[0] = y.strides[0] = 1;
    y.data = device->arena();
    std::vector<LaunchSpec> specs;
    for (double digit : {1, 2, 3, 4})
      specs.push_back({KernelId::Fill, {y}, {}, {digit}});
    program = std::move(*device->prepare(std::move(specs)));
  }
  int digits() {
    float y = 0;
    device->copyOut(0, std::as_writable_bytes(std::span(&y, 1)));
    return int(y);
  }
  std::unique_ptr<Device> device;
  std::unique_ptr<PreparedProgram> program;
};

template <typename Give> std::set<int> ordersOf(Give give) {
  std::set<int> found;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Shuffled shuffled(seed);
    give(*shuffled.device, *shuffled.program);
    shuffled.device->finish();
    found.insert(shuffled.digits());
  }
  return found;
}

TEST(Shuffle, TwoStreamsRunInEveryOrder) {
  EXPECT_EQ(ordersOf([](Device &device, PreparedProgram &program) {
              device.launch(0, program, 0, 2);
              device.launch(1, program, 2, 4);
            }),
            (std::set<int>{1234, 1324, 1342, 3124, 3142, 3412}));
}

TEST(Shuffle, AnEventOrdersThem) {
  EXPECT_EQ(ordersOf([](Device &device, PreparedProgram &program) {
              device.launch(0, program, 0, 1);
              device.record(0, 1);
              device.launch(0, program, 1, 2);
              device.wait(1, 1);
              device.launch(1, program, 2, 4);
            }),
            (std::set<int>{1234, 1324, 1342}));
}

TEST(Shuffle, AnEventIsTheOneThatWasRecordedLast) {
  EXPECT_EQ(ordersOf([](Device &device, PreparedProgram &program) {
              device.record(0, 0); // as in a run before
              device.finish();
              device.launch(0, program, 0, 1);
              device.record(0, 0);
              device.wait(1, 0);
              device.launch(1, program, 1, 2);
            }),
            (std::set<int>{12}));
}

TEST(Shuffle, SynchronizeWaitsForOneStream) {
  auto orders = ordersOf([](Device &device, PreparedProgram &program) {
    device.launch(0, program, 0, 1);
    device.launch(1, program, 1, 2);
    device.synchronize(1);
    device.launch(1, program, 2, 3);
  });
  EXPECT_EQ(orders, (std::set<int>{123, 213, 231}));
}

} // namespace
} // namespace lstmc
