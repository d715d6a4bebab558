// The scalar operations of fused programs.
#pragma once

#include <cstdint>
#include <string_view>

namespace lstmc {

enum class ScalarOp : uint8_t {
#define LSTMC_SCALAR(ID, NAME, OPERANDS, RESULT, MEANING) ID,
#include "executor/abi/ScalarOps.def"
};

enum class ScalarResult : uint8_t { Same, Bool, From };

struct ScalarRecord {
  ScalarOp op;
  std::string_view name;
  int operands;
  ScalarResult result;
  std::string_view meaning;
};

inline constexpr ScalarRecord kScalarRecords[] = {
#define LSTMC_SCALAR(ID, NAME, OPERANDS, RESULT, MEANING)                                          \
  {ScalarOp::ID, NAME, OPERANDS, ScalarResult::RESULT, MEANING},
#include "executor/abi/ScalarOps.def"
};
inline constexpr int kScalarOpCount = int(sizeof(kScalarRecords) / sizeof(kScalarRecords[0]));

/// Limits of a fused program, checked at load: number of instructions, and of values alive at once.
inline constexpr int kMaxFusedInstructions = 512;
inline constexpr int kMaxFusedOperands = 64;
inline constexpr int kMaxFusedLive = 64;

} // namespace lstmc
