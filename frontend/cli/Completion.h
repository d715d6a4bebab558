// What a shell offers while a command line is typed.
#pragma once

#include <string>

#include "executor/base/Completion.h"

namespace lstmc::cli {

/// A script for that shell: commands, flags, values of flags that are names, settings of the file
/// named.
std::string completionOf(Shell shell);

} // namespace lstmc::cli
