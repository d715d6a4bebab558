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
  static constexpr Command kCommands[] = {compileCommand, runCommand,   trainCommand,   evalCommand, sampleCommand,
                                          plotCommand,    inspectCommand, optCommand,   fmtCommand,  benchCommand,
                                          devicesCommand, explainCommand, helpCommand};
  static_assert(std::size(kNames) == std::size(kCommands));
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (kNames[i] == name)
      return kCommands[i];
  return nullptr;
}

int main(int argc, char **argv) {
  if (argc >= 2 && std::string_view(argv[1]) == "--version") {
    bool verbose = argc > 2 && std::string_view(argv[2]) == "-v";
    fmt::print("{}\n", verbose ? versionDetails() : versionLine());
    return 0;
  }
  if (argc >= 2 && (std::string_view(argv[1]) == "-h" || std::string_view(argv[1]) == "--help")) {
    fmt::print("{}", overviewText());
    return 0;
  }
  Result<Options> options = parseOptions(argc, argv);
  if (!options.ok())
    return Console(Options()).fail(options.error());
  if (options->command.empty()) {
    fmt::print(stderr, "{}", overviewText());
    return int(ExitCode::Usage);
  }
  if (options->has("help")) {
    fmt::print("{}", helpText(options->command));
    return 0;
  }
  Console console(*options);
  return findCommand(options->command)(*options, console);
}
