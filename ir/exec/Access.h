// What launches read and write: the facts of kernel records and fused programs, in one place.
#pragma once

#include "llvm/ADT/BitVector.h"

#include "ir/exec/Exec.h"

namespace lstmc::exec {

class Access {
public:
  /// Reads the fused programs of a plan; ids out of range read nothing and write nothing.
  explicit Access(PlanOp plan);

  bool writes(LaunchOp launch, size_t operand) const {
    return mode(launch, operand) != OperandMode::In;
  }
  bool reads(LaunchOp launch, size_t operand) const {
    return mode(launch, operand) != OperandMode::Out;
  }
  /// Whether output `out` may have the memory of input `in`, given that the two views are the same.
  bool mayBeItself(LaunchOp launch, size_t out, size_t in) const;

private:
  OperandMode mode(LaunchOp launch, size_t operand) const;

  std::vector<llvm::BitVector> written; ///< per fused program: operands that it writes
};

} // namespace lstmc::exec
