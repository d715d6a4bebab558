// Recurrent kernels by tensor cores, for the 16-bit rules of --fast: weights stay on the chip as
// fragments (TensorCores.h), in registers and in shared memory.
#pragma once

#include "backends/cuda/kernels/Recurrence.h"

namespace lstmc::gpu {

/// A cluster advances kTensorRows sequences through all steps, and each of its blocks has a share
/// of the units, as in RecurrenceOnChip.h. h, or backward the gradients of gates, go to all blocks
/// in 16 bits; gates, h and c of a unit stay in the registers of one lane, in f32.
struct TensorShape {
  int32_t share;       ///< units of a block, a multiple of those of a warp
  int32_t keepsInputs; ///< forward: whether W is kept too; else it is read through the cache
};
struct RnnForwardTensorArguments {
  RnnForwardArguments layer;
  TensorShape chip;
};
struct RnnBackwardTensorArguments {
  RnnBackwardArguments layer;
  TensorShape chip;
};

inline constexpr int kTensorRows = 8, kTensorWarps = 8, kTensorThreads = 32 * kTensorWarps;
/// Units of a warp. Forward, its fragments are two at each group of terms: gates 0 and 1, and gates
/// 2 and 3, of the same units; so that a lane has all gates of a unit.
inline constexpr int kForwardUnits = 8, kBackwardUnits = 16;
/// Groups of terms whose fragments are in registers: those of the first weights that lead from h.
inline constexpr int kForwardKept = 16, kBackwardKept = 24;
/// Terms of a group, bytes of a fragment.
inline constexpr int kTensorDepth = 16, kFragmentBytes = 512;

constexpr int64_t tensorGroups(int64_t terms) { return (terms + kTensorDepth - 1) / kTensorDepth; }
/// Words between the columns of an operand in 16 bits: 4 modulo 8, so that the lanes of a warp read
/// from different banks.
constexpr int64_t tensorStride(int64_t groups) { return groups * (kTensorDepth / 2) + 4; }
/// Numbers between the sequences of x.
constexpr int64_t tensorInputStride(int64_t inputs) {
  return tensorGroups(inputs) * kTensorDepth + 4;
}

/// Bytes of fragments of R and W in shared memory.
constexpr int64_t forwardFragmentBytes(int64_t units, int64_t inputs, TensorShape chip) {
  const int64_t groups = tensorGroups(units);
  const int64_t rest = groups > kForwardKept ? groups - kForwardKept : 0;
  return chip.share / kForwardUnits * 2 * kFragmentBytes *
         (rest + (chip.keepsInputs ? tensorGroups(inputs) : 0));
}
/// And h before and after the step, in 16 bits, and x of the step and the next.
constexpr int64_t forwardTensorBytes(int64_t units, int64_t inputs, TensorShape chip) {
  return forwardFragmentBytes(units, inputs, chip) +
         2 * 4 * kTensorRows * (tensorStride(tensorGroups(units)) + tensorInputStride(inputs));
}
constexpr int64_t backwardFragmentBytes(int64_t units, int64_t gates, TensorShape chip) {
  const int64_t groups = tensorGroups(units) * gates;
  const int64_t rest = groups > kBackwardKept ? groups - kBackwardKept : 0;
  return chip.share / kBackwardUnits * kFragmentBytes * rest;
}
/// And the gradients of R h + bh of all gates at this step and the one before.
constexpr int64_t backwardTensorBytes(int64_t units, int64_t gates, TensorShape chip) {
  return backwardFragmentBytes(units, gates, chip) +
         2 * 4 * kTensorRows * tensorStride(tensorGroups(units) * gates);
}

LSTMC_GPU_KERNEL(lstmc_rnn_forward_bf16, RnnForwardTensorArguments, a);
LSTMC_GPU_KERNEL(lstmc_rnn_forward_fp16, RnnForwardTensorArguments, a);
LSTMC_GPU_KERNEL(lstmc_rnn_backward_bf16, RnnBackwardTensorArguments, a);
LSTMC_GPU_KERNEL(lstmc_rnn_backward_fp16, RnnBackwardTensorArguments, a);

} // namespace lstmc::gpu
