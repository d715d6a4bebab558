// Lifetimes of the buffers of a program.
#pragma once

#include <vector>

#include "llvm/ADT/DenseMap.h"

#include "ir/exec/Exec.h"
#include "passes/Placement.h"

namespace lstmc::passes {

/// A buffer of a program and the launches that it is live in: the first to the last in program
/// order that touch it, both included. With several streams, later launches may run concurrently
/// with these; `order` bounds which. A sent buffer also stays live for the next two messages to the
/// same device, and until all messages with smaller numbers are received.
struct Lifetime {
  exec::BufferOp buffer;
  uint32_t from = 0, to = 0;
  bool bound =
      false; ///< an input or output of the entry: also live from its first or to its last launch
  bool endsInOne = true; ///< the last launch that touches it runs after all others that do
  StreamOrder order;
};

/// Launches are numbered from 0. A buffer that no launch touches is live in launch 0.
struct Lifetimes {
  explicit Lifetimes(exec::ProgramOp program);

  /// The lifetime of `memory`; null for a buffer of the plan.
  const Lifetime *of(mlir::Value memory) const {
    auto found = index.find(memory);
    return found == index.end() ? nullptr : &buffers[found->second];
  }

  std::vector<exec::LaunchOp> launches;
  uint32_t commit = 0;           ///< launches.size() if the program has no commit
  std::vector<Lifetime> buffers; ///< in program order
  llvm::DenseMap<mlir::Value, unsigned> index;

private:
  /// Extends lifetimes in programs with several streams.
  void awaitStreams(exec::ProgramOp program);
  void keepSent();
  void keepWhileReceiving();
};

} // namespace lstmc::passes
