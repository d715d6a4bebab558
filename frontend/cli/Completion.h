// What a shell offers while a command line is typed.
#pragma once

#include <string>

namespace lstmc::cli {

/// A script for bash: commands, flags, values of flags that are names, settings of the file named.
std::string bashCompletion();

} // namespace lstmc::cli
