#include "backends/cuda/model/TensorWay.h"

#include <algorithm>
#include <cmath>

namespace lstmc::cuda {

namespace {

static_assert(gpu::kForwardUnits == gpu::kBackwardUnits); // so that both have as many warps

// Cycles of a multiprocessor. Assumed: none was measured. Choices need only their ratios.
constexpr double kProductIssue = 16, kProductLatency = 33; ///< of a product of fragments
constexpr double kSchedulers = 4;                          ///< each with tensor cores of its own
constexpr double kSharedBytes = 128;                       ///< read in a cycle
constexpr double kCells = 400;                             ///< gates, cell and what is stored
constexpr double kClusterBarrier = 1000, kBlockBarrier = 100;
constexpr double kCacheBytes = 24;        ///< a multiprocessor reads through the cache in a cycle
constexpr double kLaunchSeconds = 2.5e-6; ///< of a launch that waits for the one before it

int64_t upwards(int64_t a, int64_t b) { return (a + b - 1) / b; }

double forwardStep(const gpu::LayerShape &layer, const gpu::OnChipShape &chip) {
  const auto warps = double(chip.share / gpu::kForwardUnits);
  const auto groups = double(gpu::tensorGroups(layer.units));
  // Two products side by side at each group.
  const double multiplying = std::max(2 * groups * std::ceil(warps / kSchedulers) * kProductIssue,
                                      groups * kProductLatency);
  const double shared = double(gpu::forwardFragmentBytes(layer.units, chip)) +
                        warps * 2 * gpu::kTensorRows * gpu::kTensorDepth * groups;
  return std::max(multiplying, shared / kSharedBytes);
}

double backwardStep(const gpu::LayerShape &layer, const gpu::OnChipShape &chip) {
  const auto warps = double(chip.share / gpu::kBackwardUnits);
  const auto groups = double(gpu::backwardHalf(layer.units, layer.gates));
  // Four chains side by side.
  const double multiplying = std::max(groups * std::ceil(warps / kSchedulers) * kProductIssue,
                                      groups / 4 * kProductLatency);
  const double shared = double(gpu::backwardFragmentBytes(layer.units, layer.gates, chip)) +
                        warps * 2 * gpu::kTensorRows * gpu::kTensorDepth * groups;
  return std::max(multiplying, shared / kSharedBytes) + kBlockBarrier;
}

/// In clusters of so many blocks, if it fits.
std::optional<RecurrenceWay> inCluster(const gpu::LayerShape &layer, bool forward,
                                       const GpuShape &gpu, int cluster) {
  const int units = forward ? gpu::kForwardUnits : 2 * gpu::kBackwardUnits;
  const int64_t share = upwards(upwards(layer.units, cluster), units) * units;
  if (share > int64_t(gpu::kForwardUnits) * gpu::kTensorWarps)
    return std::nullopt;
  RecurrenceWay way = {.kind = RecurrenceWay::Kind::TensorCores,
                       .cluster = cluster,
                       .rows = gpu::kTensorRows,
                       .chip = {int32_t(share)}};
  const gpu::OnChipShape chip = {way.chip.share};
  way.sharedBytes = forward ? gpu::forwardTensorBytes(layer.units, chip)
                            : gpu::backwardTensorBytes(layer.units, layer.gates, chip);
  if (way.sharedBytes > gpu.sharedBytes)
    return std::nullopt;
  const double step = (forward ? forwardStep(layer, chip) : backwardStep(layer, chip)) + kCells +
                      (cluster > 1 ? kClusterBarrier : kBlockBarrier);
  const int64_t clusters = upwards(layer.batch, gpu::kTensorRows);
  const int64_t places = std::max(1, gpu.multiprocessors / cluster);
  way.stepCycles = step * double(upwards(clusters, places));
  return way;
}

/// Two launches a step, and all weights from the cache of the GPU or from its memory.
RecurrenceWay stepByStep(const gpu::LayerShape &layer, const GpuShape &gpu) {
  const double weights = 4.0 * double(layer.units * layer.units * layer.gates);
  const double bytes = weights > double(gpu.l2Bytes) ? gpu.memoryBytesPerSecond / gpu.clock
                                                     : kCacheBytes * gpu.multiprocessors;
  return {.kind = RecurrenceWay::Kind::StepByStep,
          .cluster = 1,
          .rows = int(std::max<int64_t>(layer.batch, 1)),
          .chip = {int32_t(layer.units)},
          .stepCycles = 2 * kLaunchSeconds * gpu.clock + weights / bytes};
}

} // namespace

std::optional<RecurrenceWay> tensorWay(const gpu::LayerShape &layer, Direction direction,
                                       const GpuShape &gpu) {
  std::optional<RecurrenceWay> best;
  if (!gpu.fast.roundsLayers() || layer.batch <= 0)
    return best;
  const bool forward = direction == Direction::Forward;
  for (int cluster = 1; cluster <= gpu.cluster; cluster *= 2) {
    if (gpu.asked && gpu.asked->cluster != cluster)
      continue;
    if (auto way = inCluster(layer, forward, gpu, cluster);
        way && (!best || way->stepCycles < best->stepCycles))
      best = way;
  }
  return best ? best : stepByStep(layer, gpu);
}

} // namespace lstmc::cuda
