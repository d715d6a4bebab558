// A fused program, as stored in packages and as used by kernels: checked at load, then trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "executor/abi/DType.h"
#include "executor/abi/ScalarOps.h"

namespace lstmc {

/// Value number (operands + its own position) = op(a, b, c); a, b, c are the numbers of earlier
/// values.
struct FusedInstruction {
  ScalarOp op = ScalarOp::Constant;
  DType type = DType::F32; ///< type of the result: f32, f64, i32, i64 or bool
  uint16_t a = 0, b = 0, c = 0;
  double immediate = 0; ///< value of constant, or ordinal of uniform
  bool operator==(const FusedInstruction &) const = default;
};

/// The Program of Package.fbs. Value numbers below types.size() are the operands.
struct FusedProgram {
  std::vector<DType> types; ///< types of the operands as stored
  std::vector<FusedInstruction> instructions;
  std::vector<int32_t> results; ///< per operand: the value stored there; -1: only read

  bool writes(size_t operand) const { return results[operand] >= 0; }
  bool operator==(const FusedProgram &) const = default;
};

} // namespace lstmc
