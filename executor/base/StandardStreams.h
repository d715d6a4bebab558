// Standard input, output and error of a program, whatever they are connected to.
#pragma once

#include <string>
#include <string_view>

#include "executor/base/Status.h"

namespace lstmc {

/// What a program does first. Descriptors 0 to 2 that are closed become /dev/null, so that no file
/// opened later is taken for one of them. SIGPIPE is ignored: that a reader has left is for who
/// writes to hear.
void prepareStandardStreams();

/// Writes a result to stdout, at once. The first failure is kept for outputStatus(), and nothing is
/// written after it.
void writeOutput(std::string_view text);

/// E0601 when a result did not reach stdout. A reader that has left is no error: it has had what it
/// wanted.
Status outputStatus();

/// False once stdout's reader has left, so that nobody needs more.
bool outputHasReader();

/// Writes to stderr. Failures are ignored: there is nobody left to tell, and the work goes on.
void writeMessage(std::string_view text);

/// All of stdin.
Result<std::string> readInput();

} // namespace lstmc
