// Arguments of the interpreter of fused programs.
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

LSTMC_GPU_KERNEL(lstmc_fused, FusedArguments, a);

} // namespace lstmc::gpu
