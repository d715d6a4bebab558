// Arguments of the kernels that only move elements. Each launch has one thread for each of the
// `count` elements of its result, row-major; `bytes` is the size of an element.
#pragma once

#include "backends/cuda/kernels/Operand.h"

namespace lstmc::gpu {

struct FillArguments {
  Operand y;
  int64_t count;
  int bytes;
  uint64_t value; ///< bits of the value as stored
};

struct CopyArguments {
  Operand x, y;
  int64_t count;
  int bytes;
};

/// gather, pick, pick_gradient.
struct IndexArguments {
  Operand x, indices, y;
  int64_t count;
  int bytes;
  bool wrap;
};

struct OneHotArguments {
  Operand indices, y;
  int64_t count;
  int bytes;
  uint64_t on, off; ///< bits of the values as stored
};

/// For sequence_mask, sequence_last, its gradient, and sequence_reverse.
struct SequenceArguments {
  Operand x, length, y;
  int64_t count;
  int bytes;
  uint64_t value; ///< for sequence_mask; bits as stored
};

LSTMC_GPU_KERNEL(lstmc_fill, FillArguments, a);
LSTMC_GPU_KERNEL(lstmc_copy, CopyArguments, a);
LSTMC_GPU_KERNEL(lstmc_gather, IndexArguments, a);
LSTMC_GPU_KERNEL(lstmc_one_hot, OneHotArguments, a);
LSTMC_GPU_KERNEL(lstmc_pick, IndexArguments, a);
LSTMC_GPU_KERNEL(lstmc_pick_gradient, IndexArguments, a);
LSTMC_GPU_KERNEL(lstmc_sequence_mask, SequenceArguments, a);
LSTMC_GPU_KERNEL(lstmc_sequence_last, SequenceArguments, a);
LSTMC_GPU_KERNEL(lstmc_sequence_last_gradient, SequenceArguments, a);
LSTMC_GPU_KERNEL(lstmc_sequence_reverse, SequenceArguments, a);

} // namespace lstmc::gpu
