// Which scalar operations are of bools.
#pragma once

#include "executor/abi/ScalarOps.h"

namespace lstmc {

constexpr bool isLogical(ScalarOp op) {
  return op == ScalarOp::And || op == ScalarOp::Or || op == ScalarOp::Xor || op == ScalarOp::Not;
}

/// Whether an operation of this result has it: arithmetic is of numbers, logic of bools; comparing,
/// converting and choosing of either.
constexpr bool mayBe(ScalarOp op, bool ofBools) {
  return kScalarRecords[int(op)].result != ScalarResult::Same || op == ScalarOp::Select ||
         isLogical(op) == ofBools;
}

} // namespace lstmc
