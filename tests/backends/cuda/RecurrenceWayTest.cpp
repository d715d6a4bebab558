// Which way a recurrent layer is carried out: on the chip where its weights fit, in as many
// clusters as are worth their barrier, and through the cache else.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backends/cuda/runtime/RecurrenceWay.h"

namespace lstmc::cuda {
namespace {

constexpr GpuShape kH100 = {.sharedBytes = 227 * 1024, .multiprocessors = 132, .cluster = 8};
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

std::string text(const std::optional<OnChip> &way) {
  return way ? fmt::format("cluster of {}, {} rows{}", way->cluster, way->rows,
                           way->shape.keepsInputs ? "" : ", W through the cache")
             : "through the cache";
}

std::string way(const gpu::LayerShape &layer, const GpuShape &gpu) {
  return text(forwardOnChip(layer, gpu));
}

TEST(RecurrenceWay, IsThatWhichTakesLeast) {
  EXPECT_EQ(way(layer(1, 128, 128), kH100), "cluster of 4, 1 rows");
  EXPECT_EQ(way(layer(32, 128, 128), kH100), "cluster of 4, 1 rows");
  EXPECT_EQ(way(layer(1, 256, 256), kH100), "cluster of 8, 1 rows, W through the cache");
  EXPECT_EQ(way(layer(64, 256, 256), kH100), "cluster of 8, 4 rows, W through the cache");
  EXPECT_EQ(way(layer(1, 1024, 1024), kH100), "through the cache");
  EXPECT_EQ(way(layer(16, 16, 16), kH100), "cluster of 1, 1 rows");
  EXPECT_EQ(way(layer(32, 64, 64), kA100), "cluster of 1, 1 rows");
  EXPECT_EQ(way(layer(32, 256, 256), kA100), "through the cache");
}

TEST(RecurrenceWay, BackwardKeepsAsMuch) {
  EXPECT_EQ(text(backwardOnChip(layer(64, 0, 256), kH100)), "cluster of 8, 4 rows");
  EXPECT_EQ(text(backwardOnChip(layer(1, 0, 1024), kH100)), "through the cache");
}

TEST(RecurrenceWay, IsThatWhichIsAskedForWhereItFits) {
  GpuShape gpu = kH100;
  gpu.asked = 2;
  EXPECT_EQ(way(layer(1, 64, 128), gpu), "cluster of 2, 1 rows");
  EXPECT_EQ(way(layer(1, 128, 128), gpu), "cluster of 2, 1 rows, W through the cache");
  EXPECT_EQ(way(layer(1, 256, 256), gpu), "through the cache");
  gpu.asked = 0;
  EXPECT_EQ(way(layer(1, 128, 128), gpu), "through the cache");
}

} // namespace
} // namespace lstmc::cuda
