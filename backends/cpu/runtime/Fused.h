// Carrying out fused programs: the tile evaluator, and the place for machine code made from the
// same list.
#pragma once

#include "backends/cpu/runtime/FusedTable.h"
#include "backends/cpu/runtime/Level.h"
#include "executor/device/Kernel.h"

namespace lstmc::cpu {

/// What an engine made of a program: a function and what it was made for.
struct FusedCode {
  void (*run)(const void *context, const LaunchArgs &, Worker &) = nullptr;
  const void *context = nullptr;
};

/// Turns a program that the package loader has verified into a function. The tile evaluator is the
/// engine of a runtime without a compiler; one that makes machine code gives the same bits and may
/// take its place where LLVM is in the process. Asked once, when a launch is bound.
class FusedEngine {
public:
  virtual ~FusedEngine() = default;
  /// The code lives as long as the engine and the program.
  virtual FusedCode prepare(const FusedProgram &program) = 0;
};

/// The evaluator with the operations of a level: what the kernel `fused` of kernelTable(level)
/// does.
FusedEngine &tileEngine(Level level);

/// Carries out args.program tile by tile.
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
