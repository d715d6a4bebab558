// Examples of error codes. Only `lstmc explain` reads them; apart from ErrorTexts.def, they are not
// linked into the runtime.
#pragma once

#include "executor/base/Errors.h"

namespace lstmc {

/// Lines indented by four: a program, a command or a file that causes the error. Empty if the text
/// in ErrorTexts.def has an example.
std::string_view errorExample(ErrorCode code);

} // namespace lstmc
