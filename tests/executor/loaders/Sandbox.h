// Runs a child process that the kernel ends at the first call that is not allowed.
#pragma once

#include <functional>

namespace lstmc::test {

/// Allowed: calls for reading files, memory and threads. Not allowed: starting a program or
/// process, opening a socket, tracing, opening a file for writing, and making a page executable.
///
/// Returns the exit code of `child`, or minus the number of the signal that ended it: SIGSYS for a
/// call that is not allowed.
int inSandbox(const std::function<int()> &child);

} // namespace lstmc::test
