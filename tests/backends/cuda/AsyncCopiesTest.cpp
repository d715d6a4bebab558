// Copies from and to a GPU beside its launches: in the right order with those and with one another,
// in any order that a driver may carry them out in, and never waited for before they must be.
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cuda/emulated/EmulatedDriver.h"
#include "backends/cuda/runtime/Fetching.h"
#include "backends/cuda/runtime/GpuDevice.h"
#include "executor/device/AsyncCopier.h"

namespace lstmc::cuda {
namespace {

constexpr CardNumber kCard = 45; // no other test has it
constexpr uint64_t kX = 0, kNext = 64, kY = 128;

int waitsOfHost = 0;

const Driver &countingDriver() {
  static const Driver driver = [] {
    Driver counting = emulatedDriver();
    counting.synchronize = [](DriverStream stream) {
      ++waitsOfHost;
      return emulatedDriver().synchronize(stream);
    };
    return counting;
  }();
  return driver;
}

class AsyncCopies : public ::testing::TestWithParam<uint64_t> {
protected:
  AsyncCopies() {
    seedEmulatedDriver(GetParam());
    auto none = [](KernelId, std::span<const Tensor>) -> KernelFunction { return nullptr; };
    device = std::move(*makeGpuDevice("emu:45", countingDriver(),
                                      {.card = kCard, .images = emulatedImages(), .onHost = none}));
    copier = dynamic_cast<AsyncCopier *>(device.get());
    EXPECT_TRUE(device->allocate(1 << 20).ok());
    EXPECT_TRUE(device->reserve(3, 4).ok());
  }

  /// y = x, a byte each.
  std::unique_ptr<PreparedProgram> copiesX() {
    Tensor x, y;
    x.data = device->arena() + kX;
    y.data = device->arena() + kY;
    x.dtype = y.dtype = DType::U8;
    std::vector<LaunchSpec> specs = {{KernelId::Copy, {x, y}, {}, {}}};
    return std::move(*device->prepare(std::move(specs)));
  }
  int y() {
    std::byte value{};
    copier->copyBack(kY, {&value, 1});
    copier->awaitBack();
    return int(value);
  }

  std::unique_ptr<Device> device;
  AsyncCopier *copier;
};

INSTANTIATE_TEST_SUITE_P(Seeds, AsyncCopies, ::testing::Range(uint64_t(1), uint64_t(9)));

/// The next value is copied while a launch reads the one before, on whatever stream; with an order
/// missing the emulated GPU ends the test.
TEST_P(AsyncCopies, BringNextValuesWhileTheOnesBeforeAreRead) {
  const auto program = copiesX();
  std::byte next{10};
  device->copyIn(kX, {&next, 1});
  for (int run = 0; run < 6; ++run) {
    waitsOfHost = 0;
    if (run % 2)
      device->launch(uint32_t(run) % 3, *program, 0, 1);
    else
      device->runGraph(*program, 0, [&] { device->launch(0, *program, 0, 1); });
    next = std::byte(11 + run);
    copier->copyAhead(kNext, {&next, 1});
    EXPECT_EQ(waitsOfHost, 0);
    device->finish();
    EXPECT_EQ(y(), 10 + run);
    copier->awaitAhead();
    waitsOfHost = 0;
    copier->copyWithin(kX, kNext, 1);
    EXPECT_EQ(waitsOfHost, 0);
  }
}

/// One value after the other into the same place.
TEST_P(AsyncCopies, DoNotWriteOverWhatIsStillTaken) {
  const auto program = copiesX();
  const std::byte first{1}, second{2};
  copier->copyAhead(kNext, {&first, 1});
  copier->awaitAhead();
  copier->copyWithin(kX, kNext, 1);
  copier->copyAhead(kNext, {&second, 1});
  device->launch(0, *program, 0, 1);
  device->finish();
  EXPECT_EQ(y(), 1);
  copier->awaitAhead();
  copier->copyWithin(kX, kNext, 1);
  device->launch(0, *program, 0, 1);
  device->finish();
  EXPECT_EQ(y(), 2);
}

constexpr size_t kSizes[] = {1,      1000,   Fetching::kBytes / 2, Fetching::kBytes + 1, 77,
                             30'000, 70'000, Fetching::kBytes - 1, Fetching::kBytes};

/// Bytes for copies of all sizes.
std::vector<std::byte> manyBytes() {
  std::vector<std::byte> all(std::accumulate(std::begin(kSizes), std::end(kSizes), size_t(0)));
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = std::byte(i % 251);
  return all;
}

TEST_P(AsyncCopies, AheadOfEverySizeAreThere) {
  const std::vector<std::byte> all = manyBytes();
  std::vector<std::byte> found(all.size());
  size_t at = 0;
  for (size_t size : kSizes) {
    copier->copyAhead(at, std::span(all).subspan(at, size));
    at += size;
  }
  copier->awaitAhead();
  device->copyOut(0, found);
  EXPECT_EQ(found, all);
}

TEST_P(AsyncCopies, BackOfEverySizeAreThere) {
  const std::vector<std::byte> all = manyBytes();
  std::vector<std::byte> found(all.size());
  device->copyIn(0, all);
  for (int round = 0; round < 2; ++round) {
    std::ranges::fill(found, std::byte(0));
    size_t at = 0;
    for (size_t size : kSizes) {
      copier->copyBack(at, std::span(found).subspan(at, size));
      at += size;
    }
    waitsOfHost = 0;
    copier->awaitBack();
    EXPECT_EQ(waitsOfHost, 1);
    EXPECT_EQ(found, all);
  }
}

} // namespace
} // namespace lstmc::cuda
