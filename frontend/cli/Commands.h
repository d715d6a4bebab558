// The subcommands: one file each.
#pragma once

#include "frontend/cli/Console.h"
#include "frontend/cli/Options.h"

namespace lstmc::cli {

/// Carries a subcommand out and returns the process's exit code.
using Command = int (*)(const Options &, Console &);

int compileCommand(const Options &options, Console &console);
int runCommand(const Options &options, Console &console);
int trainCommand(const Options &options, Console &console);
int evalCommand(const Options &options, Console &console);
int sampleCommand(const Options &options, Console &console);
int plotCommand(const Options &options, Console &console);
int planCommand(const Options &options, Console &console);
int importCommand(const Options &options, Console &console);
int inspectCommand(const Options &options, Console &console);
int optCommand(const Options &options, Console &console);
int fmtCommand(const Options &options, Console &console);
int diffCommand(const Options &options, Console &console);
int benchCommand(const Options &options, Console &console);
int devicesCommand(const Options &options, Console &console);
int explainCommand(const Options &options, Console &console);
int helpCommand(const Options &options, Console &console);

/// --dump-config: every value in force, with where it comes from.
int dumpConfig(const Options &options, Console &console);

/// The names of --metric; E0001 for one that there is not.
Result<std::vector<std::string>> metricsAsked(const Options &options);

/// Help on one command, or the one screen on all of them.
std::string helpText(std::string_view command);
std::string overviewText();

} // namespace lstmc::cli
