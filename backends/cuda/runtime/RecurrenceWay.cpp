#include "backends/cuda/runtime/RecurrenceWay.h"

#include <algorithm>
#include <limits>

namespace lstmc::cuda {

namespace {

// Cycles of a multiprocessor. Assumed: none was measured. Only their ratios matter.
constexpr double kSharedBytes = 128; ///< read from shared memory in a cycle
constexpr double kCacheBytes = 24;   ///< read through the cache in a cycle
constexpr double kSchedulers = 4;    ///< instructions of warps in a cycle
constexpr double kTerm = 8;          ///< from one term of a sum to the next
constexpr double kClusterBarrier = 1000, kBlockBarrier = 100;

int64_t upwards(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Of one step: what multiplies `columns` sums of `terms` by a warp's lanes, each weight with
/// `rows` numbers.
double multiplying(int64_t terms, int64_t columns, int rows) {
  const double warps = double(upwards(columns, 32));
  const double issued = double(terms) * warps * (2 * rows + 2) / kSchedulers;
  return std::max(issued, double(terms) * kTerm);
}

/// Times the number of times that the multiprocessors are filled.
double inWaves(double step, int64_t batch, int rows, int64_t places) {
  return step * double(upwards(upwards(batch, rows), std::max<int64_t>(places, 1)));
}

double throughCache(const gpu::LayerShape &layer, const GpuShape &gpu) {
  const int rows = layer.batch > 1 ? gpu::kRows : 1;
  const int64_t columns = layer.gates * layer.units, terms = layer.units + layer.inputs;
  const double step = std::max(double(columns * terms) * sizeof(float) / kCacheBytes,
                               multiplying(terms, columns, rows)) +
                      kBlockBarrier;
  return inWaves(step, layer.batch, rows, gpu.multiprocessors);
}

double onChip(const gpu::LayerShape &layer, const GpuShape &gpu, const OnChip &way) {
  const int64_t columns = way.shape.share * layer.gates;
  const auto bytes = [&](int64_t terms) { return double(columns * terms) * sizeof(float); };
  const int64_t kept = layer.units + (way.shape.keepsInputs ? layer.inputs : 0);
  const int64_t read = way.shape.keepsInputs ? 0 : layer.inputs;
  const double step = std::max(bytes(kept) / kSharedBytes + bytes(read) / kCacheBytes,
                               multiplying(layer.units + layer.inputs, columns, way.rows)) +
                      (way.cluster > 1 ? kClusterBarrier : kBlockBarrier);
  return inWaves(step, layer.batch, way.rows, gpu.multiprocessors / way.cluster);
}

} // namespace

std::optional<OnChip> forwardOnChip(const gpu::LayerShape &layer, const GpuShape &gpu) {
  std::optional<OnChip> best;
  double cycles = gpu.asked ? std::numeric_limits<double>::infinity() : throughCache(layer, gpu);
  for (int cluster = 1; cluster <= gpu.cluster; cluster *= 2)
    for (int rows : {1, gpu::kRows})
      for (bool keepsInputs : {true, false}) {
        if (gpu.asked && *gpu.asked != cluster)
          continue;
        OnChip way = {cluster, rows, {int32_t(upwards(layer.units, cluster)), keepsInputs}, 0};
        way.sharedBytes =
            int64_t(sizeof(float)) *
            gpu::forwardOnChipNumbers(rows, layer.units, layer.inputs, layer.gates, way.shape);
        if (way.sharedBytes > gpu.sharedBytes)
          continue;
        if (const double taken = onChip(layer, gpu, way); taken < cycles) {
          best = way;
          cycles = taken;
        }
      }
  return best;
}

} // namespace lstmc::cuda
