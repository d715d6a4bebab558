// Arguments of fused programs, interpreted or compiled.
#pragma once

#include "backends/cuda/kernels/Operand.h"

namespace lstmc::gpu {

/// An instruction with the types of its operands. Types are those of executor/abi/DType.h: f32,
/// f64, i32, i64 or bool.
struct FusedStep {
  uint8_t op, type; ///< type of the result
  uint8_t from;     ///< of compare and cast: type of the operands
  uint8_t unused;
  uint16_t a, b, c, unused2;
  uint32_t unused3;
  uint64_t immediate; ///< of constant: the value's bits; of uniform: the ordinal
};

/// Words of the table: for each operand its address, its type and the value that is stored there
/// (-1: it is read), and `rank` strides; then a row FusedStep for each instruction; then the
/// extents and strides of the window.
struct FusedArguments {
  Global<const uint64_t> table;
  int64_t operands, instructions, windowRank, windowOffset;
  int64_t count, rank, shape[kRank];
};

/// The index in the larger tensor (executor/abi/ElementWindow.h).
LSTMC_DEVICE int64_t elementInWhole(const FusedArguments &a, int64_t element) {
  if (a.windowRank == 0)
    return a.windowOffset + element;
  constexpr int64_t kWords = int64_t(sizeof(FusedStep) / sizeof(uint64_t));
  const int64_t first = a.operands * (3 + a.rank) + a.instructions * kWords;
  int64_t index = a.windowOffset;
  for (int64_t axis = a.windowRank - 1; axis >= 0; --axis) {
    const auto extent = int64_t(a.table.load(first + 2 * axis));
    index += element % extent * int64_t(a.table.load(first + 2 * axis + 1));
    element /= extent;
  }
  return index;
}

LSTMC_GPU_KERNEL(lstmc_fused, FusedArguments, a);

} // namespace lstmc::gpu
