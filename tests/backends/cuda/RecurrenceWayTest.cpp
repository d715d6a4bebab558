// Which way a recurrent layer is carried out: on the chip where its weights fit, in as many
// clusters as are worth their barrier, and through the cache else.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backends/cuda/model/ProductWay.h"
#include "backends/cuda/model/RecurrenceWay.h"

namespace lstmc::cuda {
namespace {

constexpr GpuShape kH100 = {.sharedBytes = 227 * 1024, .multiprocessors = 132, .cluster = 16};
constexpr GpuShape kA100 = {.sharedBytes = 163 * 1024, .multiprocessors = 108};

gpu::LayerShape layer(int64_t batch, int64_t inputs, int64_t units) {
  return {.steps = 64,
          .batch = batch,
          .inputs = inputs,
          .units = units,
          .mode = RnnMode::Lstm,
          .gates = 4,
          .reverse = false};
}

std::string text(const RecurrenceWay &way) {
  if (way.kind == RecurrenceWay::Kind::StepByStep)
    return "step by step";
  return way.kind == RecurrenceWay::Kind::OnChip
             ? fmt::format("cluster of {}, {} rows, {} threads", way.cluster, way.rows, way.threads)
             : "through the cache";
}

std::string way(const gpu::LayerShape &layer, const GpuShape &gpu) {
  return text(recurrenceWay(layer, Direction::Forward, DType::F32, gpu));
}
std::string wayBack(const gpu::LayerShape &layer, const GpuShape &gpu) {
  return text(recurrenceWay(layer, Direction::Backward, DType::F32, gpu));
}

TEST(ProductWay, HasTilesWhereTheyFillTheGpu) {
  EXPECT_FALSE(productWay({1, 1, 4096, 1024}, kH100).tiles);
  EXPECT_FALSE(productWay({1, 16, 4096, 1024}, kH100).tiles);
  EXPECT_TRUE(productWay({1, 128, 4096, 1024}, kH100).tiles);
  const ProductWay large = productWay({1, 64 * 132, 64, 100}, kH100);
  EXPECT_TRUE(large.tiles);
  EXPECT_DOUBLE_EQ(large.waste, 1);
  // Two blocks of 64 rows for 65.
  EXPECT_DOUBLE_EQ(productWay({1, 65, 64, 100}, {.multiprocessors = 1}).waste, 2.0 * 64 / 65);
  EXPECT_TRUE(productWay({1, 1, 1, 1}, {.tiles = true}).tiles);
  EXPECT_FALSE(productWay({1, 64 * 132, 64, 100}, {.tiles = false}).tiles);
  EXPECT_EQ(productWay({0, 5, 5, 5}, kH100).waste, 1);
}

TEST(RecurrenceWay, IsThatWhichTakesLeast) {
  EXPECT_EQ(way(layer(1, 128, 128), kH100), "cluster of 1, 1 rows, 512 threads");
  EXPECT_EQ(way(layer(32, 128, 128), kH100), "cluster of 1, 1 rows, 512 threads");
  EXPECT_EQ(way(layer(1, 256, 256), kH100), "cluster of 16, 1 rows, 256 threads");
  EXPECT_EQ(way(layer(64, 256, 256), kH100), "cluster of 8, 4 rows, 256 threads");
  EXPECT_EQ(way(layer(32, 512, 512), kH100), "cluster of 16, 4 rows, 256 threads");
  EXPECT_EQ(way(layer(1, 1024, 1024), kH100), "step by step");
  EXPECT_EQ(way(layer(16, 16, 16), kH100), "cluster of 1, 1 rows, 256 threads");
  EXPECT_EQ(way(layer(32, 64, 64), kA100), "cluster of 1, 1 rows, 256 threads");
  EXPECT_EQ(way(layer(32, 256, 256), kA100), "step by step");
  EXPECT_EQ(way(layer(1, 8, 128), kA100), "cluster of 1, 1 rows, 512 threads");
}

TEST(RecurrenceWay, BackwardKeepsAsMuch) {
  EXPECT_EQ(wayBack(layer(64, 0, 256), kH100), "cluster of 4, 4 rows, 256 threads");
  EXPECT_EQ(wayBack(layer(32, 0, 512), kH100), "cluster of 16, 4 rows, 256 threads");
  EXPECT_EQ(wayBack(layer(1, 0, 1024), kH100), "step by step");
}

/// Clusters of more than every GPU takes, and what fits into those of fewer blocks.
TEST(RecurrenceWay, HasLargeClustersWhereTheGpuHasThem) {
  GpuShape gpu = kH100;
  EXPECT_EQ(clusterOf(90), 16);
  gpu.cluster = clusterOf(120);
  EXPECT_EQ(way(layer(1, 400, 400), gpu), "cluster of 8, 1 rows, 256 threads");
  EXPECT_EQ(way(layer(1, 512, 512), gpu), "step by step");
  gpu.fast = FastRules{RoundedTo::Bf16};
  const auto kindOf = [&](int64_t units) {
    return recurrenceWay(layer(16, units, units), Direction::Forward, DType::F32, gpu).kind;
  };
  EXPECT_EQ(kindOf(768), RecurrenceWay::Kind::StepByStep);
  gpu.cluster = clusterOf(90);
  EXPECT_EQ(kindOf(768), RecurrenceWay::Kind::TensorCores);
}

TEST(RecurrenceWay, IsThatWhichIsAskedForWhereItFits) {
  GpuShape gpu = kH100;
  gpu.asked = 2;
  EXPECT_EQ(way(layer(1, 64, 128), gpu), "cluster of 2, 1 rows, 256 threads");
  EXPECT_EQ(way(layer(1, 128, 128), gpu), "cluster of 2, 1 rows, 256 threads");
  EXPECT_EQ(way(layer(1, 256, 256), gpu), "through the cache");
  gpu.asked = {16, gpu::kRows, 512};
  EXPECT_EQ(way(layer(1, 128, 128), gpu), "cluster of 16, 4 rows, 512 threads");
  gpu.asked = 0;
  EXPECT_EQ(way(layer(1, 128, 128), gpu), "through the cache");
  gpu.asked = -1;
  EXPECT_EQ(way(layer(1, 16, 16), gpu), "step by step");
}

TEST(RecurrenceWay, IsStepByStepWhereAStateIsTooLargeForABlock) {
  // h twice and c of one sequence: 3 numbers of 4 bytes a unit.
  const int64_t most = kH100.sharedBytes / 12;
  GpuShape gpu = kH100;
  gpu.asked = 0;
  EXPECT_EQ(way(layer(1, 8, most), gpu), "through the cache");
  EXPECT_EQ(way(layer(1, 8, most + 1), gpu), "step by step");
}

TEST(RecurrenceWay, KeepsNothingOfF64OnTheChip) {
  const RecurrenceWay wide =
      recurrenceWay(layer(16, 16, 16), Direction::Forward, DType::F64, kH100);
  EXPECT_EQ(text(wide), "through the cache");
}

/// 4 layers' worth of f32 that no cache holds, once from memory in a step.
TEST(RecurrenceWay, WeightsBeyondTheCacheTakeTheTimeOfMemory) {
  const gpu::LayerShape large = layer(1, 4096, 4096);
  GpuShape gpu = kH100;
  gpu.l2Bytes = 1 << 30;
  gpu.memoryBytesPerSecond = 1e10;
  const double cached = recurrenceWay(large, Direction::Forward, DType::F32, gpu).stepCycles;
  gpu.l2Bytes = 1 << 20;
  const double read = recurrenceWay(large, Direction::Forward, DType::F32, gpu).stepCycles;
  const double bytes = 4.0 * 4 * 4096 * 4096; // W x is a product of all steps
  EXPECT_LT(cached, read);
  EXPECT_NEAR(read, bytes / 1e10 * gpu.clock, 1e-3 * read);
}

} // namespace
} // namespace lstmc::cuda
