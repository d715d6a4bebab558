// Read and write accesses of launches, from the kernel records and the fused programs.
#pragma once

#include "llvm/ADT/BitVector.h"

#include "ir/exec/Exec.h"

namespace lstmc::exec {

/// The buffer of each operand, null if it is absent: the buffers of LaunchOp::operandViews(),
/// without the views.
llvm::SmallVector<mlir::Value, 8> buffersOf(LaunchOp launch);

class Access {
public:
  /// Reads the fused programs of a plan. A launch with an unknown id reads and writes nothing.
  explicit Access(PlanOp plan);

  bool writes(LaunchOp launch, size_t operand) const {
    return mode(launch, operand) != OperandMode::In;
  }
  bool reads(LaunchOp launch, size_t operand) const {
    return mode(launch, operand) != OperandMode::Out;
  }
  /// Whether output `out` may use the memory of input `in`, provided that both have the same view.
  bool mayBeItself(LaunchOp launch, size_t out, size_t in) const;

private:
  OperandMode mode(LaunchOp launch, size_t operand) const;

  std::vector<llvm::BitVector> written; ///< for each fused program, the operands that it writes
};

} // namespace lstmc::exec
