// The cells of a recurrent layer at one step, between two products: for weights that stay on no
// chip.
#pragma once

#include "backends/cuda/kernels/Recurrence.h"

namespace lstmc::gpu {

/// One thread for each of the `count` units of all sequences. States are [B, H]; absent ones are 0,
/// or are not wanted.
struct CellForwardArguments {
  RnnForwardArguments layer;
  Sequence projected; ///< W x of all steps, [T, B, G * H]; may be `gates`
  Sequence recurrent; ///< R h of this step, [B, G * H]
  Sequence h, c;      ///< before the step
  Sequence hNext, cNext;
  int64_t t, count;
};
/// `previous` is the step after this one, which came before it here, and `sums` are what its
/// gradients of R h + bh give back through R; -1 of the first. Of the last call t is -1, and dh and
/// dc go to dh0 and dc0.
struct CellBackwardArguments {
  RnnBackwardArguments layer;
  Sequence sums, dh, dc; ///< [B, H]; dh and dc go from call to call
  int64_t t, previous, count;
};

LSTMC_GPU_KERNEL(lstmc_cell_forward_f32, CellForwardArguments, a);
LSTMC_GPU_KERNEL(lstmc_cell_forward_f64, CellForwardArguments, a);
LSTMC_GPU_KERNEL(lstmc_cell_backward_f32, CellBackwardArguments, a);
LSTMC_GPU_KERNEL(lstmc_cell_backward_f64, CellBackwardArguments, a);

} // namespace lstmc::gpu
