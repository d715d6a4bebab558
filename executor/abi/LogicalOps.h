// Which scalar operations work on bools.
#pragma once

#include "executor/abi/ScalarOps.h"

namespace lstmc {

constexpr bool isLogical(ScalarOp op) {
  return op == ScalarOp::And || op == ScalarOp::Or || op == ScalarOp::Xor || op == ScalarOp::Not;
}

/// Whether an operation exists for bools, or for numbers. Arithmetic is for numbers and logic for
/// bools; comparing, converting and selecting are for both.
constexpr bool mayBe(ScalarOp op, bool ofBools) {
  return kScalarRecords[int(op)].result != ScalarResult::Same || op == ScalarOp::Select ||
         isLogical(op) == ofBools;
}

} // namespace lstmc
