// Recurrent kernels by tensor cores, for the 16-bit rules of --fast: weights stay on the chip as
// fragments (TensorCores.h), in registers and in shared memory.
#pragma once

#include "backends/cuda/kernels/Recurrence.h"

namespace lstmc::gpu {

/// A cluster advances kTensorRows sequences. h, or backward the gradients of gates, go to all
/// blocks in 16 bits; gates, h and c of a unit stay in the registers of one lane, in f32. The share
/// of a block is a multiple of a warp's units.
inline constexpr int kTensorRows = 8, kTensorWarps = 8, kTensorThreads = 32 * kTensorWarps;
/// Units of a warp. Forward, its fragments are two at each group of terms: gates 0 and 1, and gates
/// 2 and 3, of the same units; so that a lane has all gates of a unit. Backward, two warps share
/// the 16 rows of a fragment, and halve the terms.
inline constexpr int kForwardUnits = 8, kBackwardUnits = 8;
/// Groups of terms whose fragments are in registers: those of the first weights that lead from h.
inline constexpr int kForwardKept = 16, kBackwardKept = 28;
/// Terms of a group, bytes of a fragment.
inline constexpr int kTensorDepth = 16, kFragmentBytes = 512;

constexpr int64_t tensorGroups(int64_t terms) { return (terms + kTensorDepth - 1) / kTensorDepth; }
/// Words between the columns of an operand in 16 bits: 4 modulo 8, so that the lanes of a warp read
/// from different banks.
constexpr int64_t tensorStride(int64_t groups) { return groups * (kTensorDepth / 2) + 4; }
/// Bytes of fragments in shared memory.
constexpr int64_t forwardFragmentBytes(int64_t units, OnChipShape chip) {
  const int64_t groups = tensorGroups(units);
  const int64_t rest = groups > kForwardKept ? groups - kForwardKept : 0;
  return chip.share / kForwardUnits * 2 * kFragmentBytes * rest;
}
/// And h before and after the step, in 16 bits.
constexpr int64_t forwardTensorBytes(int64_t units, OnChipShape chip) {
  return forwardFragmentBytes(units, chip) +
         2 * 4 * kTensorRows * tensorStride(tensorGroups(units));
}
/// Of the groups of terms, a warp has the first half, or the others.
constexpr int64_t backwardHalf(int64_t units, int64_t gates) {
  return (tensorGroups(units) * gates + 1) / 2;
}
constexpr int64_t backwardFragmentBytes(int64_t units, int64_t gates, OnChipShape chip) {
  const int64_t groups = backwardHalf(units, gates);
  const int64_t rest = groups > kBackwardKept ? groups - kBackwardKept : 0;
  return chip.share / kBackwardUnits * kFragmentBytes * rest;
}
/// What warps give one another of their sums: two numbers of each lane.
constexpr int64_t backwardPartBytes(OnChipShape chip) {
  return chip.share / kBackwardUnits * 2 * 32 * 4;
}
/// And the gradients of R h + bh of all gates at this step and the one before.
constexpr int64_t backwardTensorBytes(int64_t units, int64_t gates, OnChipShape chip) {
  return backwardFragmentBytes(units, gates, chip) + backwardPartBytes(chip) +
         2 * 4 * kTensorRows * tensorStride(tensorGroups(units) * gates);
}

LSTMC_GPU_KERNEL(lstmc_rnn_forward_bf16, RnnForwardOnChipArguments, a);
LSTMC_GPU_KERNEL(lstmc_rnn_forward_fp16, RnnForwardOnChipArguments, a);
LSTMC_GPU_KERNEL(lstmc_rnn_backward_bf16, RnnBackwardOnChipArguments, a);
LSTMC_GPU_KERNEL(lstmc_rnn_backward_fp16, RnnBackwardOnChipArguments, a);

} // namespace lstmc::gpu
