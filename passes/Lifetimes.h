// When the buffers of a program hold values.
#pragma once

#include <vector>

#include "llvm/ADT/DenseMap.h"

#include "ir/exec/Exec.h"
#include "passes/Placement.h"

namespace lstmc::passes {

/// A buffer of a program, alive from launch `from` to launch `to`, both included: the first and the
/// last in the list that touch it. On several streams launches that come later in the list may run
/// beside those; `order` says which do not. What is sent lives for two more messages to the same
/// device, and until all messages of smaller numbers are received.
struct Lifetime {
  exec::BufferOp buffer;
  uint32_t from = 0, to = 0;
  bool bound =
      false; ///< an input or output of the entry: alive to its first or last launch besides
  bool endsInOne = true; ///< the last launch that touches it comes after all others that do
  StreamOrder order;
};

/// Launches are numbered from 0. A buffer that no launch touches lives in the first.
struct Lifetimes {
  explicit Lifetimes(exec::ProgramOp program);

  /// Position in `buffers`; none for a buffer of the plan.
  const Lifetime *of(mlir::Value memory) const {
    auto found = index.find(memory);
    return found == index.end() ? nullptr : &buffers[found->second];
  }

  std::vector<exec::LaunchOp> launches;
  uint32_t commit = 0;           ///< launches.size() where nothing is committed
  std::vector<Lifetime> buffers; ///< in program order
  llvm::DenseMap<mlir::Value, unsigned> index;

private:
  /// Of programs on several streams.
  void awaitStreams(exec::ProgramOp program);
  void keepSent();
  void keepWhileReceiving();
};

} // namespace lstmc::passes
