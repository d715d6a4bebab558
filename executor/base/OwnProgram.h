// Where the program of this process is.
#pragma once

#include <string>

namespace lstmc {

/// Its file. Where there is no /proc, as in some containers, the name that it was started by, which
/// a symbolic link may have; so before the working folder is changed.
std::string ownProgram();

} // namespace lstmc
