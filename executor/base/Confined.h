// Runs work on a file from a stranger in a process that can do nothing else.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "executor/base/Status.h"

namespace lstmc {

/// What the process may use.
struct Confinement {
  std::vector<std::string> readable;  ///< files and folders, with all below; nothing else is read
  uint64_t memoryBytes = 1ull << 30;  ///< beyond what this process has mapped
  std::chrono::seconds time{60};      ///< of a processor, and on the clock
  uint64_t outputBytes = 64ull << 20; ///< of stdout, and of stderr
};

/// What the process said.
struct ConfinedResult {
  std::string output;   ///< its stdout; may be anything
  std::string messages; ///< its stderr; the same
  int exit = 0;         ///< its exit code
};

/// Carries out `work`, which returns an exit code, in a child process. The child can compute, read
/// the files named, and write to stdout and stderr, which are collected; it can open, create or
/// change no other file, start no process, use no socket and map no page to be executed (Landlock,
/// seccomp). To be called while this process has one thread. E0501 if the kernel cannot confine it;
/// E0606 if it needed more than it may use, or was ended by a signal.
Result<ConfinedResult> runConfined(const Confinement &confinement,
                                   const std::function<int()> &work);

} // namespace lstmc
