// Environment variables of MXNet, for who has them set.
#pragma once

#include "frontend/cli/Console.h"
#include "frontend/cli/Options.h"

namespace lstmc::cli {

/// Adds to options.given what MXNET_ENGINE_TYPE=NaiveEngine and MXNET_EXEC_VERBOSE_LOGGING=1 ask of
/// a command that has the flag, unless it was given.
void takeMxnetVariables(Options &options);

/// Says, a line for each variable that is set and has no effect, what does the same here. Only of
/// commands that run networks.
void answerMxnetVariables(const Options &options, const Console &console);

} // namespace lstmc::cli
