// How a program of ours ends when nothing can catch what was thrown.
#pragma once

namespace lstmc {

/// From here on an exception that cannot be caught (it left a destructor, or a thread) ends the
/// process at once with its exit code, 9 where memory is out and else 70, and not by abort().
/// Output files in the making are removed.
void exitOnTerminate();

/// Ends the process at once for lack of memory: message on stderr, exit code 9, output files in the
/// making removed. Allocates nothing.
[[noreturn]] void exitOutOfMemory();

} // namespace lstmc
