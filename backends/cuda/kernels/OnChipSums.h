// Sums of products with weights that stay on the chip, for the recurrent kernels in f32.
#pragma once

#include "backends/cuda/kernels/RecurrenceCell.h"
#include "backends/cuda/kernels/RecurrenceOnChip.h"

namespace lstmc::gpu {

/// Four neighbouring numbers of shared memory, which a thread reads at once.
struct alignas(16) Quad {
  float numbers[4];
};

/// What weights are multiplied with, [terms][rows].
template <int rows> struct Factors {
  int count; ///< numbers, in fours
  Shared<float> numbers;
  Shared<Quad> quads;

  LSTMC_DEVICE void clear() const {
    for (int i = threadIndex(); i < count; i += blockThreads())
      numbers.store(i, 0);
  }
  LSTMC_DEVICE void giveToCluster(int64_t term, int row, Float value) const {
    for (int block = 0; block < clusterBlocks(); ++block)
      numbers.storeTo(block, int(term) * rows + row, value.v);
  }
};
/// Two, by the number of the step; an array of them would not stay in registers.
template <int rows> LSTMC_DEVICE Factors<rows> factorsOf(const ChipSums &all, int64_t index) {
  const int count = int(inFours(all.terms * rows));
  const int byte =
      int(sizeof(float)) * (int(inFours(all.sharedWeights())) + int(index % 2) * count);
  return {count, shared<float>(byte, count), shared<Quad>(byte, count / 4)};
}

/// A thread's part of one sum for each of `rows` sequences, and its weights: whole groups of terms
/// in registers, as far as these go, the others in shared memory.
template <int rows, int threads> struct OnChipSums {
  static constexpr int kKept = keptWeights(threads), kGroup = int(ChipSums::kGroup);

  Shared<float> weights, sums;
  int count, parts;       ///< of the block
  int part, sum;          ///< of the thread
  int first, inside, end; ///< its terms; those before `inside` are in registers
  int place;              ///< of the first of the others, in `weights`
  bool works;             ///< it has a sum that is wanted
  float kept[kKept];

  /// `isWanted(sum)`, and `weight(sum, term)` from memory.
  template <typename Wanted, typename Weight>
  LSTMC_DEVICE OnChipSums(const ChipSums &all, Wanted isWanted, Weight weight) {
    count = int(all.count);
    parts = int(all.parts());
    const int width = int(all.width()), length = int(all.length()), terms = int(all.terms);
    part = threadIndex() / width;
    sum = threadIndex() % width;
    works = part < parts && sum < count && isWanted(sum);
    first = part * length;
    end = first + length < terms ? first + length : terms;
    works = works && first < end;
    const int groups = works ? (end - first) / kGroup : 0;
    inside = first + (groups < kKept / kGroup ? groups : kKept / kGroup) * kGroup;
    place = part * int(all.rest()) * count + sum;
    weights = shared<float>(0, int(all.sharedWeights()));
    sums = shared<float>(int(onChipNumbers(all, rows) - rows * count) * int(sizeof(float)),
                         rows * count);
    LSTMC_UNROLL
    for (int k = 0; k < kKept; ++k)
      kept[k] = works && first + k < inside ? weight(sum, first + k) : 0.0f;
    for (int k = inside; works && k < end; ++k)
      weights.store(placeOf(k), weight(sum, k));
  }

  /// Of the sums of all rows, [rows][count].
  LSTMC_DEVICE Float of(int row, int which) const { return {sums.load(row * count + which)}; }

  /// All threads of the block call it. Then every sum is there for all of them.
  LSTMC_DEVICE void add(const Factors<rows> &factors) const {
    for (int turn = 0; turn < parts; ++turn) {
      if (works && part == turn)
        addPart(factors);
      syncThreads();
    }
  }

private:
  LSTMC_DEVICE int placeOf(int term) const { return place + (term - inside) * count; }

  LSTMC_DEVICE void addPart(const Factors<rows> &factors) const {
    Float all[rows];
    LSTMC_UNROLL
    for (int i = 0; i < rows; ++i)
      all[i] = part > 0 ? of(i, sum) : Float{0};
    LSTMC_UNROLL
    for (int k = 0; k < kKept; k += kGroup)
      if (first + k < inside)
        addGroup(factors, first + k, all, [&](int j) { return kept[k + j]; });
    int k = inside;
    for (; k + kGroup <= end; k += kGroup)
      addGroup(factors, k, all, [&](int j) { return weights.load(placeOf(k + j)); });
    for (; k < end; ++k)
      LSTMC_UNROLL
    for (int i = 0; i < rows; ++i)
      all[i] = multiplyAdd(Float{factors.numbers.load(k * rows + i)},
                           Float{weights.load(placeOf(k))}, all[i]);
    LSTMC_UNROLL
    for (int i = 0; i < rows; ++i)
      sums.store(i * count + sum, all[i].v);
  }

  /// A group of terms from `k` on, ascending; weight(j) is that of term k + j.
  template <typename Weight>
  LSTMC_DEVICE static void addGroup(const Factors<rows> &factors, int k, Float (&all)[rows],
                                    Weight weight) {
    LSTMC_UNROLL
    for (int j = 0; j < kGroup; j += 4) {
      Quad quads[rows];
      LSTMC_UNROLL
      for (int q = 0; q < rows; ++q)
        quads[q] = factors.quads.load((k + j) / 4 * rows + q);
      LSTMC_UNROLL
      for (int t = 0; t < 4; ++t) {
        const Float value = {weight(j + t)};
        LSTMC_UNROLL
        for (int i = 0; i < rows; ++i)
          all[i] = multiplyAdd(Float{quads[(t * rows + i) / 4].numbers[(t * rows + i) % 4]}, value,
                               all[i]);
      }
    }
  }
};

} // namespace lstmc::gpu
