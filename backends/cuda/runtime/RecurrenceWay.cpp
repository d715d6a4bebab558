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

/// Sums of a step through the cache: so many of so many terms.
struct Sums {
  int64_t sums, terms;
};

double throughCache(const Sums &all, int64_t batch, const GpuShape &gpu) {
  const int rows = batch > 1 ? gpu::kRows : 1;
  const double step = std::max(double(all.sums * all.terms) * sizeof(float) / kCacheBytes,
                               multiplying(all.terms, all.sums, rows)) +
                      kBlockBarrier;
  return inWaves(step, batch, rows, gpu.multiprocessors);
}

double onChip(double multiplying, int64_t batch, const GpuShape &gpu, const OnChip &way) {
  const double step = multiplying + (way.cluster > 1 ? kClusterBarrier : kBlockBarrier);
  return inWaves(step, batch, way.rows, gpu.multiprocessors / way.cluster);
}

/// A thread has a gate of a unit, and all sequences of the cluster.
double forwardStep(const gpu::LayerShape &layer, const OnChip &way) {
  const int64_t columns = way.shape.share * layer.gates;
  const auto bytes = [&](int64_t terms) { return double(columns * terms) * sizeof(float); };
  const int64_t kept = layer.units + (way.shape.keepsInputs ? layer.inputs : 0);
  const int64_t read = way.shape.keepsInputs ? 0 : layer.inputs;
  return std::max(bytes(kept) / kSharedBytes + bytes(read) / kCacheBytes,
                  multiplying(layer.units + layer.inputs, columns, way.rows));
}

/// A thread has a unit of one sequence.
double backwardStep(const gpu::LayerShape &layer, const OnChip &way) {
  const int64_t sums = way.shape.share * way.rows, terms = layer.units * layer.gates;
  return std::max(double(sums * terms) * sizeof(float) / kSharedBytes, multiplying(terms, sums, 1));
}

/// The way that takes least; `cycles` is what it takes through the cache.
template <typename Numbers, typename Step>
std::optional<OnChip> least(const gpu::LayerShape &layer, const GpuShape &gpu, double cycles,
                            Numbers numbers, Step step) {
  std::optional<OnChip> best;
  if (gpu.asked)
    cycles = std::numeric_limits<double>::infinity();
  for (int cluster = 1; cluster <= gpu.cluster; cluster *= 2)
    for (int rows : {1, gpu::kRows})
      for (bool keepsInputs : {true, false}) {
        if (gpu.asked && *gpu.asked != cluster)
          continue;
        OnChip way = {cluster, rows, {int32_t(upwards(layer.units, cluster)), keepsInputs}, 0};
        way.sharedBytes = int64_t(sizeof(float)) * numbers(way);
        if (way.sharedBytes > gpu.sharedBytes)
          continue;
        if (const double taken = onChip(step(layer, way), layer.batch, gpu, way); taken < cycles) {
          best = way;
          cycles = taken;
        }
      }
  return best;
}

} // namespace

std::optional<OnChip> forwardOnChip(const gpu::LayerShape &layer, const GpuShape &gpu) {
  const Sums all = {layer.units * layer.gates, layer.units + layer.inputs};
  auto numbers = [&](const OnChip &way) {
    return gpu::forwardOnChipNumbers(way.rows, layer.units, layer.inputs, layer.gates, way.shape);
  };
  return least(layer, gpu, throughCache(all, layer.batch, gpu), numbers, forwardStep);
}

std::optional<OnChip> backwardOnChip(const gpu::LayerShape &layer, const GpuShape &gpu) {
  const Sums all = {layer.units, layer.units * layer.gates};
  auto numbers = [&](const OnChip &way) {
    return gpu::backwardOnChipNumbers(way.rows, layer.units, layer.gates, way.shape);
  };
  return least(layer, gpu, throughCache(all, layer.batch, gpu), numbers, backwardStep);
}

} // namespace lstmc::cuda
