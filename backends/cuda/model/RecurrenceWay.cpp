#include "backends/cuda/model/RecurrenceWay.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "backends/cuda/model/ProductWay.h"
#include "backends/cuda/model/TensorWay.h"

namespace lstmc::cuda {

namespace {

// Cycles of a multiprocessor. Assumed: none was measured. Choices need only their ratios.
constexpr double kCacheBytes = 24; ///< read through the cache in a cycle
constexpr double kSchedulers = 4;  ///< instructions of warps in a cycle
constexpr double kTerm = 8;        ///< from one term of a sum to the next
constexpr double kFactor = 1.25;   ///< instructions of a product on the chip
constexpr double kClusterBarrier = 1000, kBlockBarrier = 100;
constexpr double kLaunchSeconds = 2.5e-6;  ///< of a launch that waits for the one before it
constexpr double kProductInstructions = 5; ///< of a term of a product, for a warp
constexpr double kProductRows = 8;         ///< that a block of a product has
/// Shared memory of a block that advances several sequences: what a block may have on every GPU.
constexpr int64_t kSharedOfRows = 99 * 1024;

int64_t upwards(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Of one step, through the cache: what multiplies `columns` sums of `terms` by a warp's lanes,
/// each weight with `rows` numbers.
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
    const bool fewer = cache && cycles(*cache) <= cycles(steps);
    const RecurrenceWay offChip =
        cache && (fewer || (gpu_.asked && gpu_.asked->cluster >= 0)) ? *cache : steps;
    if (gpu_.asked && gpu_.asked->cluster == -1)
      return steps;
    // Where tests ask for a way, it is taken wherever it fits.
    std::optional<RecurrenceWay> best;
    double least = gpu_.asked ? std::numeric_limits<double>::infinity() : cycles(offChip);
    for (int cluster = 1; onChip_ && cluster <= gpu_.cluster; cluster *= 2)
      for (int rows : {1, gpu::kRows})
        for (int threads : gpu::kOnChipThreads)
          if (std::optional<RecurrenceWay> way = onChip(cluster, rows, threads);
              way && cycles(*way) < least) {
            best = way;
            least = cycles(*way);
          }
    return best ? *best : offChip;
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
    return {.kind = RecurrenceWay::Kind::StepByStep,
            .cluster = 1,
            .rows = int(std::max<int64_t>(layer_.batch, 1)),
            .chip = {int32_t(layer_.units)},
            .stepCycles =
                2 * kLaunchSeconds * gpu_.clock + std::max(weights / rate, productCycles(terms))};
  }

  /// Of all sequences at one step, in a product of so many steps at once.
  double productCycles(int64_t terms, int64_t steps = 1) const {
    const int64_t batch = layer_.batch * steps;
    if (bytes_ == int64_t(sizeof(float)))
      return productWay({.matrices = 1, .rows = batch, .columns = sums(), .depth = terms}, gpu_)
                 .cycles /
             double(std::max<int64_t>(steps, 1));
    const double rows = double(upwards(batch, int64_t(kProductRows))) * kProductRows /
                        double(std::max<int64_t>(steps, 1));
    const double issued = gpu_.f64Issue * rows * double(sums()) / 32 * double(terms) *
                          kProductInstructions / (kSchedulers * gpu_.multiprocessors);
    return std::max(issued, double(terms) * kTerm);
  }

  std::optional<RecurrenceWay> onChip(int cluster, int rows, int threads) const {
    if (gpu_.asked && !isAsked(*gpu_.asked, cluster, rows, threads))
      return std::nullopt;
    RecurrenceWay way = {.kind = RecurrenceWay::Kind::OnChip,
                         .cluster = cluster,
                         .rows = rows,
                         .chip = {int32_t(upwards(layer_.units, cluster))},
                         .threads = threads};
    const gpu::ChipSums sums = sumsOf(way);
    way.sharedBytes = bytes_ * gpu::onChipNumbers(sums, rows);
    if (sums.width() > threads || gpu::onChipThreads(sums, rows, way.chip) > threads ||
        way.sharedBytes > gpu_.sharedBytes)
      return std::nullopt;
    const double step = onChipStep(sums, rows) + (cluster > 1 ? kClusterBarrier : kBlockBarrier);
    way.stepCycles = inWaves(step, layer_.batch, rows, gpu_.multiprocessors / cluster);
    return way;
  }

  static bool isAsked(const AskedWay &asked, int cluster, int rows, int threads) {
    return asked.cluster == cluster && (asked.rows == 0 || asked.rows == rows) &&
           (asked.threads == 0 || asked.threads == threads);
  }

  gpu::ChipSums sumsOf(const RecurrenceWay &way) const {
    return forward_ ? gpu::forwardSums(layer_.units, layer_.gates, way.chip, way.threads)
                    : gpu::backwardSums(layer_.units, layer_.gates, way.chip, way.threads);
  }

  /// Parts go on one after the other. A term takes a product for each sequence, and reads what it
  /// is multiplied with, four numbers at once, and perhaps a weight.
  static double onChipStep(const gpu::ChipSums &sums, int rows) {
    const double terms = double(sums.terms);
    const double read = std::min(double(sums.parts() * sums.rest()) / terms, 1.0);
    const double warps = std::ceil(double(sums.width() / 32) / kSchedulers);
    return terms * std::max(kTerm, warps * (rows * kFactor + read)) +
           double(sums.parts()) * kBlockBarrier;
  }

  /// Of a step, with its part of what comes before all of them: W x in a product of its own, and
  /// weights that are brought to the chip.
  double cycles(const RecurrenceWay &way) const {
    const bool onChip = way.kind == RecurrenceWay::Kind::OnChip;
    double before = 0;
    if (forward_ && (onChip || way.kind == RecurrenceWay::Kind::StepByStep))
      before += kLaunchSeconds * gpu_.clock +
                double(layer_.steps) * productCycles(layer_.inputs, layer_.steps);
    if (onChip)
      before +=
          double(bytes_ * sums() * (forward_ ? layer_.units : terms())) / way.cluster / kCacheBytes;
    return way.stepCycles + before / double(std::max<int64_t>(layer_.steps, 1));
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
