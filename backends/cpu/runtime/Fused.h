// Runs fused programs: the tile evaluator, and the interface for an engine that generates machine
// code.
#pragma once

#include "backends/cpu/runtime/FusedTable.h"
#include "backends/cpu/runtime/Level.h"
#include "executor/device/Kernel.h"

namespace lstmc::cpu {

/// What an engine makes of a program: a function, and what the function needs.
struct FusedCode {
  void (*run)(const void *context, const LaunchArgs &, Worker &) = nullptr;
  const void *context = nullptr;
};

/// Turns a verified program into a function. The tile evaluator is the engine of a runtime without
/// a compiler. In a process with LLVM, an engine that generates machine code may replace it, if it
/// gives the same bits. Called once, when a launch is bound.
class FusedEngine {
public:
  virtual ~FusedEngine() = default;
  /// The code is valid as long as the engine and the program live.
  virtual FusedCode prepare(const FusedProgram &program) = 0;
};

/// The evaluator with the operations of a level. It is the kernel `fused` of kernelTable(level).
FusedEngine &tileEngine(Level level);

/// Runs args.program tile by tile.
void runFused(const FusedTable &table, const LaunchArgs &args, Worker &worker);

// The operations of the levels.
namespace scalar {
const FusedTable &fusedTable();
}
namespace avx2 {
const FusedTable &fusedTable();
}
namespace avx512 {
const FusedTable &fusedTable();
}

} // namespace lstmc::cpu
