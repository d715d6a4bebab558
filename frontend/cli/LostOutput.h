// What a command writes beside its results (a log, events) and could not write.
#pragma once

#include "executor/base/Status.h"
#include "frontend/cli/CommandResult.h"

namespace lstmc::cli {

/// Warns of the first of these errors at once; the work goes on. From any thread.
void reportLost(const Error &error);
/// That error, or ok.
Status lostStatus();
/// The exit code of work that was done: that of the error, if there is one.
ExitCode withLost(ExitCode done);

} // namespace lstmc::cli
