// Recurrent kernels in f32 whose weights stay on the chip, in registers and in shared memory.
#pragma once

#include "backends/cuda/kernels/Recurrence.h"

namespace lstmc::gpu {

/// Weights that a thread keeps in registers, in a block of so many threads at most: what is left of
/// its registers beside them is for a cell.
constexpr int keptWeights(int threads) { return threads > 256 ? 48 : 144; }
inline constexpr int kOnChipThreads[] = {256, 512};

/// The sums that a block makes at each step, forward those of its gates and backward those of its
/// units. Each adds `terms` products in their order. A thread has one sum, or a part of its terms;
/// the threads of one part are whole warps, and parts go on one after the other.
struct ChipSums {
  int64_t count, terms;
  int threads; ///< most of a block

  /// Terms that the registers of a thread hold come in groups, which have no branch inside.
  static constexpr int64_t kGroup = 16;

  constexpr int64_t width() const { return (count + 31) / 32 * 32; } ///< threads of a part
  constexpr int64_t parts() const {
    const int64_t wanted = (terms + keptWeights(threads) - 1) / keptWeights(threads);
    const int64_t most = threads / width();
    return wanted < most ? (wanted > 1 ? wanted : 1) : (most > 1 ? most : 1);
  }
  /// Terms of a part: whole groups, so that only the last one may have fewer.
  constexpr int64_t length() const {
    const int64_t even = (terms + parts() - 1) / parts();
    return (even + kGroup - 1) / kGroup * kGroup;
  }
  /// Of those, what a thread may have in shared memory.
  constexpr int64_t rest() const {
    const int64_t beyond = length() > keptWeights(threads) ? length() - keptWeights(threads) : 0;
    return beyond > terms % kGroup ? beyond : terms % kGroup;
  }
  constexpr int64_t sharedWeights() const { return parts() * rest() * count; }
};
constexpr ChipSums forwardSums(int64_t units, int64_t gates, OnChipShape chip, int threads) {
  return {chip.share * gates, units, threads};
}
constexpr ChipSums backwardSums(int64_t units, int64_t gates, OnChipShape chip, int threads) {
  return {chip.share, units * gates, threads};
}

/// Threads of a block: those of all parts, and one for each of its units of each sequence.
constexpr int64_t onChipThreads(const ChipSums &sums, int64_t rows, OnChipShape chip) {
  const int64_t ofSums = sums.parts() * sums.width();
  const int64_t ofCells = (chip.share * rows + 31) / 32 * 32;
  return ofSums > ofCells ? ofSums : ofCells;
}
/// Numbers in shared memory: what the registers do not hold of the weights; what they are
/// multiplied with, of this step and of the next one, in fours; and the sums.
constexpr int64_t inFours(int64_t numbers) { return (numbers + 3) / 4 * 4; }
constexpr int64_t onChipNumbers(const ChipSums &sums, int64_t rows) {
  return inFours(sums.sharedWeights()) + 2 * inFours(sums.terms * rows) + rows * sums.count;
}

LSTMC_GPU_KERNEL(lstmc_rnn_forward_on_chip_1_256_f32, RnnForwardOnChipArguments, a);
LSTMC_GPU_KERNEL(lstmc_rnn_forward_on_chip_4_256_f32, RnnForwardOnChipArguments, a);
LSTMC_GPU_KERNEL(lstmc_rnn_forward_on_chip_1_512_f32, RnnForwardOnChipArguments, a);
LSTMC_GPU_KERNEL(lstmc_rnn_forward_on_chip_4_512_f32, RnnForwardOnChipArguments, a);
LSTMC_GPU_KERNEL(lstmc_rnn_backward_on_chip_1_256_f32, RnnBackwardOnChipArguments, a);
LSTMC_GPU_KERNEL(lstmc_rnn_backward_on_chip_4_256_f32, RnnBackwardOnChipArguments, a);
LSTMC_GPU_KERNEL(lstmc_rnn_backward_on_chip_1_512_f32, RnnBackwardOnChipArguments, a);
LSTMC_GPU_KERNEL(lstmc_rnn_backward_on_chip_4_512_f32, RnnBackwardOnChipArguments, a);

} // namespace lstmc::gpu
