// What LLVM does where it cannot go on: leave as the command does, and not by abort().
#pragma once

namespace lstmc::cli {

/// From here on a fatal error of LLVM ends the process with 70, with 6 where it could not write its
/// output, and lack of memory in its own allocators with 9.
void handleCompilerFailures();

} // namespace lstmc::cli
