// Recurrent kernels whose weights stay in the shared memory of a cluster of blocks.
#pragma once

#include "backends/cuda/kernels/Recurrence.h"

namespace lstmc::gpu {

/// A cluster advances a few sequences through all steps. Each of its blocks has a share of the
/// units: it keeps the weights that lead to them in its shared memory, computes their gates, and
/// writes their h into the shared memory of all blocks. So a step has one barrier, of the cluster.
struct OnChipShape {
  int32_t share;       ///< units of a block; the last ones may have fewer, or none
  int32_t keepsInputs; ///< whether W is kept too; else it is read through the cache
};
struct RnnForwardOnChipArguments {
  RnnForwardArguments layer;
  OnChipShape chip;
};
/// Backward, a block keeps the columns of R of its units, and writes the gradients of their gates
/// into the shared memory of all blocks.
struct RnnBackwardOnChipArguments {
  RnnBackwardArguments layer;
  OnChipShape chip;
};

/// Numbers in shared memory: R and perhaps W of the block's units, h of all units before and after
/// the step, c of the block's units, and W x and R h of their gates.
constexpr int64_t forwardOnChipNumbers(int64_t rows, int64_t units, int64_t inputs, int64_t gates,
                                       OnChipShape chip) {
  const int64_t columns = chip.share * gates;
  return columns * (units + (chip.keepsInputs ? inputs : 0)) + rows * (2 * units + chip.share) +
         2 * rows * columns;
}

/// The weights that lead back to the block's units, dh and dc of those, and the gradients of R h +
/// bh of all gates at this step and the one before.
constexpr int64_t backwardOnChipNumbers(int64_t rows, int64_t units, int64_t gates,
                                        OnChipShape chip) {
  return units * gates * (chip.share + 2 * rows) + 2 * rows * chip.share;
}

LSTMC_GPU_KERNEL(lstmc_rnn_forward_on_chip_1_f32, RnnForwardOnChipArguments, a);
LSTMC_GPU_KERNEL(lstmc_rnn_forward_on_chip_4_f32, RnnForwardOnChipArguments, a);
LSTMC_GPU_KERNEL(lstmc_rnn_backward_on_chip_1_f32, RnnBackwardOnChipArguments, a);
LSTMC_GPU_KERNEL(lstmc_rnn_backward_on_chip_4_f32, RnnBackwardOnChipArguments, a);

} // namespace lstmc::gpu
