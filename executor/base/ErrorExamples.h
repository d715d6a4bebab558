// Examples of error codes. Only `lstmc explain` reads them, so they are not in Errors.def, which
// every file includes.
#pragma once

#include "executor/base/Errors.h"

namespace lstmc {

/// Lines indented by four: a program, a command or a file that causes the error. Empty if the text
/// in Errors.def has an example.
std::string_view errorExample(ErrorCode code);

} // namespace lstmc
