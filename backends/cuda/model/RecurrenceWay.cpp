#include "backends/cuda/model/RecurrenceWay.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "backends/cuda/model/ProductWay.h"
#include "backends/cuda/model/TensorWay.h"

namespace lstmc::cuda {

namespace {

// Cycles of a multiprocessor. Assumed: none was measured. Choices need only their ratios.
constexpr double kSharedBytes = 128; ///< read from shared memory in a cycle
constexpr double kCacheBytes = 24;   ///< read through the cache in a cycle
constexpr double kSchedulers = 4;    ///< instructions of warps in a cycle
constexpr double kTerm = 8;          ///< from one term of a sum to the next
constexpr double kClusterBarrier = 1000, kBlockBarrier = 100;
constexpr double kLaunchSeconds = 2.5e-6;  ///< of a launch that waits for the one before it
constexpr double kProductInstructions = 5; ///< of a term of a product, for a warp
constexpr double kProductRows = 8;         ///< that a block of a product has
/// Shared memory of a block that advances several sequences: what a block may have on every GPU.
constexpr int64_t kSharedOfRows = 99 * 1024;

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

class Chooser {
public:
  Chooser(const gpu::LayerShape &layer, Direction direction, DType type, const GpuShape &gpu)
      : layer_(layer), gpu_(gpu), forward_(direction == Direction::Forward),
        bytes_(int64_t(dtypeBytes(type))), onChip_(type == DType::F32 && layer.batch > 0) {}

  RecurrenceWay choose() const {
    const std::optional<RecurrenceWay> cache = throughCache();
    const RecurrenceWay steps = stepByStep();
    const bool fewer = cache && cache->stepCycles <= steps.stepCycles;
    const RecurrenceWay offChip =
        cache && (fewer || (gpu_.asked && *gpu_.asked >= 0)) ? *cache : steps;
    if (gpu_.asked == -1)
      return steps;
    // Where tests ask for a way, it is taken wherever it fits.
    RecurrenceWay best = offChip;
    if (gpu_.asked)
      best.stepCycles = std::numeric_limits<double>::infinity();
    for (int cluster = 1; onChip_ && cluster <= gpu_.cluster; cluster *= 2)
      for (int rows : {1, gpu::kRows})
        for (bool keepsInputs : {true, false})
          if (std::optional<RecurrenceWay> way = onChip(cluster, rows, keepsInputs);
              way && way->stepCycles < best.stepCycles)
            best = *way;
    return best.kind == RecurrenceWay::Kind::OnChip ? best : offChip;
  }

private:
  /// Of a step: so many sums of so many terms each.
  int64_t sums() const { return forward_ ? layer_.units * layer_.gates : layer_.units; }
  int64_t terms() const {
    return forward_ ? layer_.units + layer_.inputs : layer_.units * layer_.gates;
  }

  /// None where the state of a sequence does not fit into a block's shared memory.
  std::optional<RecurrenceWay> throughCache() const {
    auto shared = [&](int64_t rows) {
      return bytes_ * (forward_ ? gpu::forwardSharedNumbers(rows, layer_.units)
                                : gpu::backwardSharedNumbers(rows, layer_.units, layer_.gates));
    };
    RecurrenceWay way;
    way.rows = layer_.batch > 1 && shared(gpu::kRows) <= kSharedOfRows ? gpu::kRows : 1;
    way.sharedBytes = shared(way.rows);
    if (way.sharedBytes > gpu_.sharedBytes)
      return std::nullopt;
    const double weights = double(sums()) * double(terms()) * double(bytes_);
    const double issue = bytes_ > int64_t(sizeof(float)) ? gpu_.f64Issue : 1;
    double step = std::max(weights / kCacheBytes, issue * multiplying(terms(), sums(), way.rows));
    if (weights > double(gpu_.l2Bytes)) // from memory, once for all blocks
      step = std::max(step, weights * gpu_.clock / gpu_.memoryBytesPerSecond);
    way.stepCycles = inWaves(step + kBlockBarrier, layer_.batch, way.rows, gpu_.multiprocessors);
    return way;
  }

  /// Launches that wait for one another, and blocks on all multiprocessors that share the weights.
  /// W x has products of its own, which are not steps.
  RecurrenceWay stepByStep() const {
    const int64_t terms = forward_ ? layer_.units : this->terms();
    const double weights = double(sums()) * double(terms) * double(bytes_);
    const double rate = weights > double(gpu_.l2Bytes) ? gpu_.memoryBytesPerSecond / gpu_.clock
                                                       : kCacheBytes * gpu_.multiprocessors;
    const int launches = forward_ ? 3 : 2; // W x may be of one step at a time
    return {.kind = RecurrenceWay::Kind::StepByStep,
            .cluster = 1,
            .rows = int(std::max<int64_t>(layer_.batch, 1)),
            .chip = {int32_t(layer_.units), true},
            .stepCycles = launches * kLaunchSeconds * gpu_.clock +
                          std::max(weights / rate, productCycles(terms))};
  }

  /// Of all sequences at one step.
  double productCycles(int64_t terms) const {
    if (bytes_ == int64_t(sizeof(float)))
      return productWay({.matrices = 1, .rows = layer_.batch, .columns = sums(), .depth = terms},
                        gpu_)
          .cycles;
    const double rows = double(upwards(layer_.batch, int64_t(kProductRows))) * kProductRows;
    const double issued = gpu_.f64Issue * rows * double(sums()) / 32 * double(terms) *
                          kProductInstructions / (kSchedulers * gpu_.multiprocessors);
    return std::max(issued, double(terms) * kTerm);
  }

  std::optional<RecurrenceWay> onChip(int cluster, int rows, bool keepsInputs) const {
    if (gpu_.asked && *gpu_.asked != cluster)
      return std::nullopt;
    RecurrenceWay way = {.kind = RecurrenceWay::Kind::OnChip,
                         .cluster = cluster,
                         .rows = rows,
                         .chip = {int32_t(upwards(layer_.units, cluster)), keepsInputs}};
    way.sharedBytes =
        bytes_ *
        (forward_
             ? gpu::forwardOnChipNumbers(rows, layer_.units, layer_.inputs, layer_.gates, way.chip)
             : gpu::backwardOnChipNumbers(rows, layer_.units, layer_.gates, way.chip));
    if (way.sharedBytes > gpu_.sharedBytes)
      return std::nullopt;
    const double step = (forward_ ? forwardStep(way) : backwardStep(way)) +
                        (cluster > 1 ? kClusterBarrier : kBlockBarrier);
    way.stepCycles = inWaves(step, layer_.batch, rows, gpu_.multiprocessors / cluster);
    return way;
  }

  /// A thread has a gate of a unit, and all sequences of the cluster.
  double forwardStep(const RecurrenceWay &way) const {
    const int64_t columns = int64_t(way.chip.share) * layer_.gates;
    const auto bytes = [&](int64_t terms) { return double(columns * terms * bytes_); };
    const int64_t kept = layer_.units + (way.chip.keepsInputs ? layer_.inputs : 0);
    const int64_t read = way.chip.keepsInputs ? 0 : layer_.inputs;
    return std::max(bytes(kept) / kSharedBytes + bytes(read) / kCacheBytes,
                    multiplying(layer_.units + layer_.inputs, columns, way.rows));
  }

  /// A thread has a unit of one sequence.
  double backwardStep(const RecurrenceWay &way) const {
    const int64_t sums = int64_t(way.chip.share) * way.rows;
    return std::max(double(sums * terms() * bytes_) / kSharedBytes, multiplying(terms(), sums, 1));
  }

  const gpu::LayerShape &layer_;
  const GpuShape &gpu_;
  bool forward_;
  int64_t bytes_;
  bool onChip_;
};

} // namespace

RecurrenceWay recurrenceWay(const gpu::LayerShape &layer, Direction direction, DType type,
                            const GpuShape &gpu) {
  if (type == DType::F32)
    if (std::optional<RecurrenceWay> way = tensorWay(layer, direction, gpu))
      return *way;
  return Chooser(layer, direction, type, gpu).choose();
}

} // namespace lstmc::cuda
