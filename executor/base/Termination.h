// How our programs end after an exception that nothing can catch.
#pragma once

namespace lstmc {

/// From this call on, an exception that cannot be caught (it left a destructor or a thread) ends
/// the process at once with an exit code, 9 if memory is out, else 70, instead of abort(). Output
/// files that are not complete are removed.
void exitOnTerminate();

/// Ends the process at once for lack of memory: message on stderr, exit code 9, incomplete output
/// files removed. Allocates nothing.
[[noreturn]] void exitOutOfMemory();

} // namespace lstmc
