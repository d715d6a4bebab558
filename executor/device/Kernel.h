// What a kernel is to the executor: a function that all threads of a device enter together.
#pragma once

#include <span>

#include "executor/abi/Kernels.h"
#include "executor/base/Tensor.h"

namespace lstmc {

struct FusedProgram; // executor/abi/FusedProgram.h

/// One of the threads that carry out a program. All of them enter every kernel; a kernel splits its
/// outputs over them (never a sum), and may meet at a barrier. It must leave with all its outputs
/// written by the time the last thread returns; the executor puts a barrier between kernels.
class Worker {
public:
  virtual ~Worker() = default;
  int index = 0; ///< 0 to count - 1
  int count = 1;
  /// Returns when all `count` workers have called it as often.
  virtual void barrier() = 0;
};

/// A launch with its operands resolved to memory, in the order of the kernel's record. An absent
/// operand has a null `data`.
struct LaunchArgs {
  std::span<const Tensor> operands;
  std::span<const int64_t> ints;
  std::span<const double> floats;
  const FusedProgram *program = nullptr; ///< of `fused` only

  /// Absent if it was left out at the end.
  const Tensor &operand(size_t i) const { return i < operands.size() ? operands[i] : kAbsent; }
  std::span<const Tensor> repeated(size_t fixed) const {
    return operands.size() > fixed ? operands.subspan(fixed) : std::span<const Tensor>();
  }

private:
  static inline const Tensor kAbsent;
};

/// Checked at load (executor/package): operands, types and shapes are those of the record.
/// Allocates nothing, locks nothing, and sets the FTZ and DAZ bits of nobody: the worker has them
/// set.
using KernelFunction = void (*)(const LaunchArgs &, Worker &);

} // namespace lstmc
