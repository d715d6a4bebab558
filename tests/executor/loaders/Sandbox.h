// A child process that the kernel ends at the first call it may not make.
#pragma once

#include <functional>

namespace lstmc::test {

/// May: what reading files, memory and threads need. May not: start a program or process, open a
/// socket, trace, open a file for writing, or have a page made executable.
///
/// The exit code of `child`, or minus the number of the signal that ended it: SIGSYS for a call
/// that is not allowed.
int inSandbox(const std::function<int()> &child);

} // namespace lstmc::test
