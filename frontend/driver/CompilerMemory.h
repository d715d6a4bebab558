// Lack of memory while the compiler runs.
#pragma once

#include <new>

namespace lstmc::driver {

/// While it lives, `new` or `malloc` (frontend/cli/Malloc.cpp) that finds no memory ends the
/// process with 9: LLVM and MLIR are compiled without exceptions, so none may pass through them.
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

} // namespace lstmc::driver
