#include <algorithm>
#include <cstring>
#include <new>

#include <malloc.h>
#include <unistd.h>

#include "executor/base/LibraryPages.h"
#include "executor/base/OutputFile.h"
#include "executor/base/StandardStreams.h"
#include "executor/base/Termination.h"
#include "executor/device/DeviceNames.h"
#include "executor/training/EndOnSignals.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/CompilerFailure.h"
#include "frontend/cli/MxnetVariables.h"
#include "frontend/cli/RoleEnvironment.h"
#include "frontend/driver/Ranks.h"
#include "frontend/driver/Version.h"

using namespace lstmc;
using namespace lstmc::cli;

static Command functionOf(CommandId command) {
  switch (command) {
#define LSTMC_COMMAND(COMMAND, FUNCTION, NAME, SYNOPSIS, LINE)                                     \
  case CommandId::COMMAND:                                                                         \
    return FUNCTION;
#include "frontend/cli/options.def"
  }
  return nullptr;
}

/// What could not be parsed is reported in the form that it asked for.
static bool asksForJson(int argc, char **argv) {
  for (int i = 1; i < argc; ++i)
    if (!std::strcmp(argv[i], "--json") || !std::strcmp(argv[i], "--format=json"))
      return true;
  return false;
}

/// What a rank that failed tells the others.
static std::optional<Error> asError(const CommandResult &result) {
  if (result.ok())
    return std::nullopt;
  for (const Diagnostic &diagnostic : result.diagnostics())
    if (diagnostic.severity == Severity::Error)
      return Error{diagnostic.code,
                   diagnostic.message,
                   {diagnostic.place.file, diagnostic.place.line, diagnostic.place.column}};
  return fail(ErrorCode::E0099, "it failed without an error");
}

static void sayWhatTimesMean(const Options &options, const Console &console) {
  if (std::ranges::any_of(*options.devices, isEmulated))
    console.say(fmt::format("emulated GPUs are for correctness: times of a run on them say nothing "
                            "about a GPU{}",
                            options.calibrate ? ", so --calibrate measures nothing" : ""));
}

/// The exit code, once the results are out.
static int carryOut(int argc, char **argv) {
  Options none;
  if (argc >= 2 && std::string_view(argv[1]) == "--version") {
    bool verbose = argc > 2 && std::string_view(argv[2]) == "-v";
    writeOutput((verbose ? versionDetails() : versionLine()) + "\n");
    return Console(none).finish(ExitCode::Ok);
  }
  if (argc >= 2 && (std::string_view(argv[1]) == "-h" || std::string_view(argv[1]) == "--help")) {
    writeOutput(overviewText());
    return Console(none).finish(ExitCode::Ok);
  }
  Result<Options> options = parseOptions(argc, argv);
  if (!options.ok()) {
    none.json = asksForJson(argc, argv);
    return Console(none).finish(options.error());
  }
  if (!options->command) {
    writeMessage(overviewText());
    return int(ExitCode::Usage);
  }
  Console console(*options);
  if (options->help) {
    console.write(helpText(*options->command));
    return console.finish(ExitCode::Ok);
  }
  if (Status status = console.openLog(*options); !status.ok())
    return console.finish(status.error());
  answerMxnetVariables(*options, console);
  sayWhatTimesMean(*options, console);
  Command command = options->dumpConfig ? dumpConfig : functionOf(*options->command);
  if (Status status = joinLaunch(); !status.ok())
    return console.finish(status.error());
  const CommandResult result = command(*options, console);
  const int exit = console.finish(result);
  const std::optional<Error> error = asError(result);
  leaveJob(exit, error ? &*error : nullptr);
  return exit;
}

int main(int argc, char **argv) try {
#ifdef __GLIBC__
  // Threads of devices hardly allocate: a heap for each is memory for nothing.
  mallopt(M_ARENA_MAX, 2);
#endif
  ownLibraryPages();
  takeRoleEnvironment();
  prepareStandardStreams();
  exitOnTerminate();
  handleCompilerFailures();
  training::endOnSignals(); // `train`, `predict` and `sample` handle them while they work
  return carryOut(argc, argv);
} catch (const std::bad_alloc &) {
  exitOutOfMemory();
} catch (const std::exception &error) {
  writeMessage("error[E0099]: ");
  writeMessage(error.what());
  writeMessage("\n");
  return int(ExitCode::Internal);
}
