// How the host reads and writes memory that it sees and memory that it does not: both work the
// same.
#include <cstring>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "backends/trap/runtime/Trap.h"
#include "executor/base/Hash.h"
#include "executor/device/DeviceTensor.h"
#include "executor/device/HostDevice.h"
#include "executor/device/StoredTensor.h"

namespace lstmc {
namespace {

constexpr uint64_t kBytes = (5 << 20) + 12; // more than two pieces, and a part of one

class Memory : public testing::TestWithParam<bool> {
protected:
  void SetUp() override {
    device = std::move(*makeHostDevice(
        "d:0", [](KernelId, std::span<const Tensor>) -> KernelFunction { return nullptr; }, 1));
    if (!GetParam())
      device = trap::makeTrapDevice(std::move(device));
    ASSERT_TRUE(device->allocate(kBytes + 64).ok());
    values.resize(kBytes / 4);
    std::iota(values.begin(), values.end(), 1u);
  }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(values)); }

  std::unique_ptr<Device> device;
  std::vector<uint32_t> values;
};
INSTANTIATE_TEST_SUITE_P(Visible, Memory, testing::Bool());

TEST_P(Memory, IsReadWrittenAndCleared) {
  MemoryRange range(*device, 64, kBytes);
  EXPECT_EQ(range.host() != nullptr, GetParam());
  range.write(0, bytes());
  std::vector<uint32_t> back(2);
  range.read(4000, std::as_writable_bytes(std::span(back)));
  EXPECT_EQ(back, (std::vector<uint32_t>{1001, 1002}));
  MemoryRange(*device, 64 + 4004, 4).clear();
  range.read(4000, std::as_writable_bytes(std::span(back)));
  EXPECT_EQ(back, (std::vector<uint32_t>{1001, 0}));
  device->copyOut(0, std::as_writable_bytes(std::span(back))); // the bytes before it
  EXPECT_EQ(back, (std::vector<uint32_t>{0, 0}));
}

TEST_P(Memory, PiecesAreTheWholeInOrder) {
  MemoryRange range(*device, 64, kBytes);
  range.write(0, bytes());
  std::vector<uint8_t> joined;
  size_t pieces = 0;
  ASSERT_TRUE(range
                  .eachPiece([&](std::span<const uint8_t> piece) {
                    ++pieces;
                    joined.insert(joined.end(), piece.begin(), piece.end());
                    return Status();
                  })
                  .ok());
  EXPECT_EQ(pieces, GetParam() ? 1u : 6u);
  ASSERT_EQ(joined.size(), kBytes);
  EXPECT_EQ(std::memcmp(joined.data(), values.data(), kBytes), 0);
  size_t calls = 0;
  EXPECT_FALSE(range
                   .eachPiece([&](std::span<const uint8_t>) {
                     ++calls;
                     return Status(fail(ErrorCode::E0601, "full"));
                   })
                   .ok());
  EXPECT_EQ(calls, 1u);
}

TEST_P(Memory, StoredTensorInSlicesIsOneValue) {
  Tensor shape;
  shape.dtype = DType::I32;
  shape.rank = 1;
  shape.shape[0] = kBytes / 4;
  shape.strides[0] = 1;
  const uint64_t half = 4 << 20;
  StoredTensor stored("s", shape,
                      {MemoryRange(*device, half, kBytes - half), MemoryRange(*device, 0, half)});
  EXPECT_EQ(stored.tensor.data, nullptr);
  EXPECT_EQ(stored.bytes(), kBytes);
  stored.write(bytes());
  std::vector<uint32_t> back(values.size());
  stored.read(std::as_writable_bytes(std::span(back)));
  EXPECT_EQ(back, values);
  EXPECT_EQ(stored.hash(), hashBytes(values.data(), kBytes));
  StoredTensor whole("w", shape, {MemoryRange(*device, 0, kBytes)});
  EXPECT_EQ(whole.tensor.data != nullptr, GetParam());
  whole.write(bytes());
  EXPECT_EQ(whole.hash(), hashBytes(values.data(), kBytes));
  stored.clear();
  EXPECT_NE(whole.hash(), hashBytes(values.data(), kBytes));
}

// Rows of 4 elements, 8 apart, the last one first: elements 19 back to 0 of 32.
TEST_P(Memory, ViewWithNegativeStridesIsReadAsItLies) {
  MemoryRange(*device, 64, kBytes).write(0, bytes());
  DeviceTensor view;
  view.layout.dtype = DType::I32;
  view.layout.rank = 2;
  view.layout.shape = {3, 4};
  view.layout.strides = {-8, 1};
  view.range = MemoryRange(*device, 64, 20 * 4);
  view.first = 16 * 4;
  view.present = true;
  std::vector<std::byte> scratch;
  Tensor read = view.forHost(scratch);
  EXPECT_EQ(scratch.size(), GetParam() ? 0u : 80u);
  EXPECT_EQ(read.as<uint32_t>()[0], 17u);
  EXPECT_EQ(read.as<uint32_t>()[3 - 16], 4u);
  view.set(int64_t(-5));
  EXPECT_EQ(view.forHost(scratch).as<int32_t>()[0], -5);
  EXPECT_FALSE(DeviceTensor().forHost(scratch));
}

using TrapDeathTest = testing::Test;
TEST_F(TrapDeathTest, ATouchEndsTheProcess) {
  auto device = trap::makeTrapDevice(std::move(*makeHostDevice(
      "trap:0", [](KernelId, std::span<const Tensor>) -> KernelFunction { return nullptr; }, 1)));
  ASSERT_TRUE(device->allocate(100).ok());
  auto *first = reinterpret_cast<volatile char *>(device->arena());
  // SIGSEGV; a sanitizer turns it into an exit.
  EXPECT_DEATH(first[0] = first[0] + 1, "");
  EXPECT_DEATH(first[99] = 1, "");
}

} // namespace
} // namespace lstmc
