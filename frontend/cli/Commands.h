// The subcommands: one file each.
#pragma once

#include "frontend/cli/CommandResult.h"
#include "frontend/cli/Console.h"
#include "frontend/cli/Options.h"

namespace lstmc::cli {

/// Carries a subcommand out. Results go to the console; an error is returned, not reported.
using Command = CommandResult (*)(const Options &, Console &);

#define LSTMC_COMMAND(COMMAND, FUNCTION, NAME, SYNOPSIS, LINE)                                     \
  CommandResult FUNCTION(const Options &options, Console &console);
#include "frontend/cli/options.def"

/// --dump-config: every value in force, with where it comes from.
CommandResult dumpConfig(const Options &options, Console &console);

/// inspect --untrusted.
CommandResult inspectUntrusted(const Options &options, Console &console);

/// Help on one command, or the one screen on all of them.
/// Only its usual flags with their meanings, unless `all` are wanted.
std::string helpText(CommandId command, bool all = false);
std::string overviewText();

} // namespace lstmc::cli
