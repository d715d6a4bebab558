#include <csignal>
#include <cstring>
#include <new>

#include <unistd.h>

#include "executor/base/OutputFile.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/Version.h"

using namespace lstmc;
using namespace lstmc::cli;

static Command findCommand(std::string_view name) {
#define LSTMC_COMMAND(NAME, SYNOPSIS, LINE) NAME,
  static constexpr std::string_view kNames[] = {
#include "frontend/cli/options.def"
  };
  // In the order of options.def.
  static constexpr Command kCommands[] = {
      compileCommand, runCommand,   trainCommand,   evalCommand,    sampleCommand,
      plotCommand,    planCommand,  inspectCommand, optCommand,     fmtCommand,
      diffCommand,    benchCommand, devicesCommand, explainCommand, helpCommand};
  static_assert(std::size(kNames) == std::size(kCommands));
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (kNames[i] == name)
      return kCommands[i];
  return nullptr;
}

/// What could not be parsed is reported in the form that it asked for.
static bool asksForJson(int argc, char **argv) {
  for (int i = 1; i < argc; ++i)
    if (!std::strcmp(argv[i], "--json") || !std::strcmp(argv[i], "--format=json"))
      return true;
  return false;
}

/// `train` has its own handling while it trains; everything else stops at once and leaves no
/// unfinished file.
extern "C" {
static void stop(int signal) {
  removeTemporaryFiles();
  ::_exit(128 + signal);
}
}

int main(int argc, char **argv) try {
  if (argc >= 2 && std::string_view(argv[1]) == "--version") {
    bool verbose = argc > 2 && std::string_view(argv[2]) == "-v";
    fmt::print("{}\n", verbose ? versionDetails() : versionLine());
    return 0;
  }
  if (argc >= 2 && (std::string_view(argv[1]) == "-h" || std::string_view(argv[1]) == "--help")) {
    fmt::print("{}", overviewText());
    return 0;
  }
  std::signal(SIGINT, stop);
  std::signal(SIGTERM, stop);
  Result<Options> options = parseOptions(argc, argv);
  if (!options.ok()) {
    Options none;
    return Console(asksForJson(argc, argv) ? none.with("json", "yes") : none).fail(options.error());
  }
  if (options->command.empty()) {
    fmt::print(stderr, "{}", overviewText());
    return int(ExitCode::Usage);
  }
  if (options->has("help")) {
    fmt::print("{}", helpText(options->command));
    return 0;
  }
  Console console(*options);
  if (Status status = console.openLog(*options); !status.ok())
    return console.fail(status.error());
  if (options->has("dump-config"))
    return dumpConfig(*options, console);
  return findCommand(options->command)(*options, console);
} catch (const std::bad_alloc &) {
  std::fputs("error[E0901]: out of memory\n", stderr);
  return int(ExitCode::OutOfMemory);
} catch (const std::exception &error) {
  std::fprintf(stderr, "error[E0099]: %s\n", error.what());
  return int(ExitCode::Internal);
}
