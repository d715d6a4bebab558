// Memory that the code of libraries takes.
#pragma once

namespace lstmc {

/// Says that all libraries of the process are there for a program of ours, which may give their
/// pages back. A process that brought them for something else keeps them: of one that has written
/// to its own code, such pages would be lost.
void ownLibraryPages();

/// Gives the code and constants of large libraries back to the system, as of a compiler that has
/// done its work; what is used again is mapped from its file again. Breakpoints of a debugger in
/// such a library are lost. Does nothing before ownLibraryPages(), or where the system has no such
/// call.
void releaseLibraryPages();

} // namespace lstmc
