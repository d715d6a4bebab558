// What LLVM does where it cannot go on: leave as the command does, and not by abort().
#pragma once

#include <new>

namespace lstmc::cli {

/// From here on a fatal error of LLVM ends the process with 70, with 6 where it could not write its
/// output, and lack of memory in its own allocators with 9.
void handleCompilerFailures();

/// While it lives, `new` or `malloc` (Malloc.cpp) that finds no memory ends the process with 9:
/// LLVM and MLIR are compiled without exceptions, so none may pass through them.
class CompilerMemory {
public:
  CompilerMemory();
  ~CompilerMemory();
  static bool lives();
  CompilerMemory(const CompilerMemory &) = delete;
  CompilerMemory &operator=(const CompilerMemory &) = delete;

private:
  std::new_handler before_;
};

} // namespace lstmc::cli
