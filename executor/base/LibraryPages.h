// Memory that the code of libraries takes.
#pragma once

namespace lstmc {

/// Gives the code and constants of large libraries back to the system, as of a compiler that has
/// done its work; what is used again is mapped from its file again. Breakpoints of a debugger in
/// such a library are lost. Does nothing where the system has no such call.
void releaseLibraryPages();

} // namespace lstmc
