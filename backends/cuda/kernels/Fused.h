// Arguments of the interpreter of fused programs.
#pragma once

#include "backends/cuda/kernels/Operand.h"
#include "executor/abi/ScalarOps.h"

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

/// Whether the interpreter has the operation for operands of this type. The others call libm in f64
/// on the CPU.
constexpr bool interprets(ScalarOp op, bool isFloat32, bool isInteger) {
  switch (op) {
  case ScalarOp::Exp:
  case ScalarOp::Log:
  case ScalarOp::Tanh:
  case ScalarOp::Sigmoid:
    return isFloat32;
  case ScalarOp::Mod:
    return isInteger;
  case ScalarOp::Pow:
  case ScalarOp::Hypot:
  case ScalarOp::Cbrt:
  case ScalarOp::Expm1:
  case ScalarOp::Log10:
  case ScalarOp::Log2:
  case ScalarOp::Log1p:
  case ScalarOp::Sin:
  case ScalarOp::Cos:
  case ScalarOp::Tan:
  case ScalarOp::Asin:
  case ScalarOp::Acos:
  case ScalarOp::Atan:
  case ScalarOp::Sinh:
  case ScalarOp::Cosh:
  case ScalarOp::Asinh:
  case ScalarOp::Acosh:
  case ScalarOp::Atanh:
  case ScalarOp::Gamma:
  case ScalarOp::LogGamma:
  case ScalarOp::Digamma:
  case ScalarOp::Erf:
  case ScalarOp::Erfinv:
  case ScalarOp::SoftRelu:
    return false;
  default:
    return true;
  }
}

LSTMC_GPU_KERNEL(lstmc_fused, FusedArguments, a);

} // namespace lstmc::gpu
