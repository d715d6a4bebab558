// The kernel bias_gradient: db = sum of dy over the rows of all uses, in the order of
// weight_gradient.
#include <algorithm>

#include "backends/cpu/runtime/KernelTable.h"
#include "backends/cpu/runtime/Rows.h"
#include "backends/cpu/runtime/Shards.h"
#include "executor/abi/Packing.h"
#include "executor/device/StopFlag.h"
#include "executor/device/WorkerMemory.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

namespace {

/// Vectors summed at the same time: enough to hide the latency of an addition.
constexpr int kSide = 8;
constexpr int kMaxPieces = 64;

struct Columns {
  Vector sums[kSide];
};
static_assert(kMaxPieces * sizeof(Columns) <= kWorkerBytes);

void biasGradient(const BiasGradientLaunch &launch, Worker &worker) {
  const Tensor &db = launch.db;
  const std::span<const Tensor> uses = launch.repeated;
  const ShardRange range = launch.range;
  const int64_t n = db.shape[0];
  const int64_t vectors = (n + kWidth - 1) / kWidth;
  const int64_t end = std::min(vectors * (worker.index + 1) / worker.count * kWidth, n);
  auto *columns = reinterpret_cast<Columns *>(workerMemory);
  Columns *list[kMaxPieces];
  for (int i = 0; i < kMaxPieces; ++i)
    list[i] = &columns[i];

  for (int64_t first = vectors * worker.index / worker.count * kWidth; first < end;
       first += kSide * kWidth) {
    auto add = [](Columns *a, Columns *b) {
      for (int v = 0; v < kSide; ++v)
        b->sums[v] = a->sums[v] + b->sums[v];
    };
    ShardFold<Columns, kMaxPieces> fold(list, kMaxPieces);
    for (int64_t j = 0; j < range.count; ++j) {
      const int64_t begin = range.begin(j), next = range.begin(j + 1);
      if (begin == next || stopAsked()) {
        fold.skip(add);
        continue;
      }
      Vector sums[kSide];
      for (int v = 0; v < kSide; ++v)
        sums[v] = launch.begin ? getStrided(launch.begin.as<float>() +
                                                (first + v * kWidth) * launch.begin.strides[0],
                                            launch.begin.strides[0], end - first - v * kWidth)
                               : Vector::zero();
      for (const Tensor &dy : uses) {
        for (ShardRows walk(dy, begin, next); walk.left() > 0; walk.next()) {
          const float *row =
              dy.as<float>() + rowOffset(dy, walk.o(), walk.b(), walk.q()) + first * dy.strides[3];
#pragma unroll
          for (int v = 0; v < kSide; ++v)
            sums[v] = sums[v] + getStrided(row + v * kWidth * dy.strides[3], dy.strides[3],
                                           end - first - v * kWidth);
        }
      }
      std::copy_n(sums, kSide, fold.leaf()->sums);
      Columns *merges[64];
      for (int i = 0, count = fold.merges(merges); i < count; ++i)
        add(merges[i], fold.leaf());
      fold.fold();
    }
    const Columns *root = fold.finish(add);
    for (int64_t i = first; i < std::min(first + kSide * kWidth, end); ++i) {
      float lanes[kWidth] = {};
      if (root)
        root->sums[(i - first) / kWidth].store(lanes);
      db.as<float>()[i * db.strides[0]] = lanes[(i - first) % kWidth];
    }
  }
}

} // namespace

void registerBiasGradient(KernelTable &table) { table.set<biasGradient>(); }

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
