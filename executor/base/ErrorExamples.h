// What an error code is like in practice: read by `lstmc explain` alone, and so no part of
// Errors.def, which every file reads.
#pragma once

#include "executor/base/Errors.h"

namespace lstmc {

/// Lines indented by four: a program, a command or a file that gives the error. Empty where the
/// record's text has one.
std::string_view errorExample(ErrorCode code);

} // namespace lstmc
