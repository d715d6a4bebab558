// Recurrent layers of f32 on the chip, of shapes drawn at random in each of the ways to divide
// them: they have the bits of the reference, wherever a weight is.
#include <algorithm>

#include "backends/conformance/RecurrenceLaunch.h"
#include "backends/cuda/model/RecurrenceWay.h"
#include "executor/base/Philox.h"
#include "executor/reference/Reference.h"
#include "tests/backends/conformance/GpuCards.h"

namespace lstmc::conformance {
namespace {

constexpr cuda::GpuShape kHopper = {.sharedBytes = 227 * 1024, .cluster = 16};

/// Numbers at random, the same ones for the same case.
struct Drawn {
  uint64_t number, next = 0;

  int64_t below(int64_t end) { return int64_t(randomUniform(number, next++, 0, 0) * double(end)); }
  bool flag() { return below(2) == 1; }
};

/// Few units often, so that blocks have fewer than others, or none; whole groups of terms; and as
/// many as fit.
int64_t drawnUnits(Drawn &drawn) {
  const int64_t kind = drawn.below(3);
  return kind == 0   ? 1 + drawn.below(40)
         : kind == 1 ? 16 + 16 * drawn.below(16)
                     : 120 + drawn.below(300);
}
RnnShape drawnShape(Drawn &drawn) {
  RnnShape shape = {.mode = RnnMode(drawn.below(4)),
                    .steps = 1 + drawn.below(4),
                    .batch = 1 + drawn.below(6),
                    .inputs = 1 + drawn.below(5),
                    .units = drawnUnits(drawn)};
  shape.reverse = drawn.flag();
  shape.lengths = drawn.flag();
  shape.biases = drawn.flag();
  shape.states = drawn.flag();
  shape.stash = drawn.flag();
  shape.gradientOfX = drawn.flag();
  shape.chunk = 1 + drawn.below(4);
  return shape;
}
cuda::AskedWay drawnWay(Drawn &drawn) {
  return {1 << drawn.below(5), drawn.flag() ? 1 : gpu::kRows,
          gpu::kOnChipThreads[size_t(drawn.below(2))]};
}

/// Cases that had what is to be seen here.
struct Seen {
  int64_t onChip = 0, parts = 0, shared = 0, registersAlone = 0, emptyBlocks = 0;

  /// The sums of a block on the chip, if the shape fits there in this way.
  bool add(const RnnShape &shape, cuda::Direction direction, const cuda::AskedWay &asked) {
    cuda::GpuShape gpu = kHopper;
    gpu.asked = asked;
    const int gates = gateCount(shape.mode);
    const cuda::RecurrenceWay way = cuda::recurrenceWay(
        {shape.steps, shape.batch, shape.inputs, shape.units, shape.mode, gates, shape.reverse},
        direction, DType::F32, gpu);
    if (way.kind != cuda::RecurrenceWay::Kind::OnChip)
      return false;
    const gpu::ChipSums sums = direction == cuda::Direction::Forward
                                   ? gpu::forwardSums(shape.units, gates, way.chip, way.threads)
                                   : gpu::backwardSums(shape.units, gates, way.chip, way.threads);
    ++onChip;
    parts += sums.parts() > 1;
    shared += sums.length() > gpu::keptWeights(way.threads);
    registersAlone += sums.rest() == 0;
    emptyBlocks += shape.units <= int64_t(way.chip.share) * (way.cluster - 1);
    return true;
  }
  void expectEach() const {
    constexpr int64_t kLeast = 8;
    EXPECT_GE(onChip, kLeast);
    EXPECT_GE(parts, kLeast);
    EXPECT_GE(shared, kLeast);
    EXPECT_GE(registersAlone, kLeast);
    EXPECT_GE(emptyBlocks, kLeast);
  }
};

/// `device(way)` is a GPU that takes this way.
template <typename DeviceOf> void expectBits(int64_t cases, DeviceOf deviceOf) {
  Seen forwards, backwards;
  for (int64_t number = 0; number < cases; ++number) {
    Drawn drawn = {uint64_t(number)};
    RnnShape shape = drawnShape(drawn);
    const cuda::AskedWay way = drawnWay(drawn);
    const std::string what = fmt::format("case {}: {}, cluster of {}, {} rows, {} threads", number,
                                         shape.text(), way.cluster, way.rows, way.threads);
    if (forwards.add(shape, cuda::Direction::Forward, way)) {
      TestLaunch expected = rnnForward(shape);
      expected.run(reference::kernel(KernelId::RnnForward));
      TestLaunch found = runFast(deviceOf(way), rnnForward(shape), FastRules());
      ASSERT_EQ(found.difference(expected), "") << what;
    }
    shape.stash = true;
    if (backwards.add(shape, cuda::Direction::Backward, way)) {
      TestLaunch expected = rnnBackward(shape);
      expected.run(reference::kernel(KernelId::RnnBackward));
      TestLaunch found = runFast(deviceOf(way), rnnBackward(shape), FastRules());
      ASSERT_EQ(found.difference(expected), "") << what << ", backward";
    }
  }
  forwards.expectEach();
  backwards.expectEach();
}

/// One device for each way.
template <typename Make> auto devicesOf(Make make) {
  return [make, devices = std::map<std::array<int, 3>, std::unique_ptr<Device>>()](
             const cuda::AskedWay &way) mutable -> Device & {
    std::unique_ptr<Device> &device = devices[{way.cluster, way.rows, way.threads}];
    if (!device)
      device = make(way);
    return *device;
  };
}

TEST(OnChip, HasTheBitsOfTheReferenceInEachWay) {
  expectBits(
      150, devicesOf([](const cuda::AskedWay &way) {
        return std::move(*cuda::makeGpuDevice(
            "emu-chip", cuda::emulatedDriver(),
            {.card = 44, .images = cuda::emulatedImages(), .onHost = hostKernel, .way = way}));
      }));
}
TEST(RealGpu, HasTheBitsOfTheReferenceOnTheChip) {
  if (auto device = realGpu(); !device.ok())
    GTEST_SKIP() << device.error().message;
  expectBits(400, devicesOf([](const cuda::AskedWay &way) { return std::move(*realGpu(way)); }));
}

} // namespace
} // namespace lstmc::conformance
