// Standard input, output and error of a program, whatever they are connected to.
#pragma once

#include <string>
#include <string_view>

#include "executor/base/Status.h"

namespace lstmc {

/// To be called first in a program. Closed descriptors 0 to 2 are opened on /dev/null, so that no
/// file opened later gets one of these numbers. SIGPIPE is ignored, so that a write to a stream
/// whose reader has left returns an error.
void prepareStandardStreams();

/// Writes a result to stdout at once. The first failure is kept for outputStatus(), and nothing is
/// written after it.
void writeOutput(std::string_view text);

/// E0601 if a result did not reach stdout. It is no error if the reader has left, because it has
/// read what it wanted.
Status outputStatus();

/// False once the reader of stdout has left and needs no more output.
bool outputHasReader();

/// Writes to stderr. Failures are ignored, because there is no other place to report them.
void writeMessage(std::string_view text);

/// All of stdin.
Result<std::string> readInput();

} // namespace lstmc
