// launch: a command as several processes that work for one job.

#include <cstdlib>
#include <filesystem>

#include "executor/ranks/OpenWire.h"
#include "executor/training/Checkpoint.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/LaunchFlags.h"
#include "frontend/cli/SignalsForRanks.h"
#include "frontend/cli/ThreadFlags.h"
#include "passes/planning/rates/MachineRates.h"

namespace lstmc::cli {

namespace {

/// What each rank is to run, read as it will read it: what is wrong in it is said once, here.
Result<Options> readCommand(const Options &options) {
  if (options.rest.empty() || !options.operands.empty())
    return fail(ErrorCode::E0001,
                "launch wants what the ranks are to run after --: lstmc launch -n 2 -- "
                "train NET --data SPEC -o DIR");
  std::vector<std::string> words = options.rest;
  std::string program = "lstmc";
  std::vector<char *> arguments{program.data()};
  for (std::string &word : words)
    arguments.push_back(word.data());
  LSTMC_ASSIGN(Options command, parseOptions(int(arguments.size()), arguments.data()));
  const auto which = command.command.value_or(CommandId::Help);
  if (which != CommandId::Train && which != CommandId::Eval && which != CommandId::Run)
    return fail(ErrorCode::E0001, "launch runs train, eval or run, not {}", command.commandName());
  return command;
}

/// The same again, from the newest checkpoint if there is one by now.
std::vector<std::string> resumed(std::vector<std::string> words, const Options &command) {
  if (command.command == CommandId::Train && !command.resume && command.output &&
      !training::listCheckpoints(*command.output).empty())
    words.push_back("--resume");
  return words;
}

Result<launch::JobEnd> carryOut(launch::Watch &watch, const Options &options,
                                const Options &command, Console &console) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  for (int64_t restarts = 0;; ++restarts) {
    watch.start.command = {program};
    const std::vector<std::string> words =
        restarts == 0 ? options.rest : resumed(options.rest, command);
    watch.start.command.insert(watch.start.command.end(), words.begin(), words.end());
    LSTMC_ASSIGN(launch::JobEnd end, launch::supervise(watch));
    if (!end.lostRank || restarts == *options.maxRestarts || SignalsForRanks::asked().first > 0)
      return end;
    if (!end.message.empty())
      console.say(end.message);
    console.say(
        fmt::format("launch    starts again, {} of {}", restarts + 1, *options.maxRestarts));
    LSTMC_TRY(leaveLostHosts(watch.start, console));
  }
}

} // namespace

CommandResult launchCommand(const Options &options, Console &console) {
  LSTMC_CHECKED_ASSIGN(Options command, readCommand(options));
  LSTMC_CHECKED_ASSIGN(launch::Watch watch, watchAsked(options, command, console));
  LSTMC_CHECKED_ASSIGN(std::string library, ranks::findMpiLibrary());
  LSTMC_CHECKED_TRY(checkHosts(watch.start));
  console.say(fmt::format("launch    {} ranks by {}", watch.start.ranks, library), 1);
  // Once for all of them, alone on the machine.
  ::setenv("LSTMC_WORLD_SIZE", std::to_string(watch.start.ranks).c_str(), 1);
  measureIfNew(threadsInQuestion(command), console);
  if (!watch.start.hosts.empty())
    watch.start.environment["LSTMC_RATES"] = planning::keptRatesText();

  const SignalsForRanks signals;
  watch.signals = SignalsForRanks::asked;
  LSTMC_CHECKED_ASSIGN(launch::JobEnd end, carryOut(watch, options, command, console));
  if (end.lostRank && !end.message.empty())
    return fail(ErrorCode::E0801, "{}", end.message);
  if (!end.message.empty())
    console.say(end.message);
  return ExitCode(end.exit);
}

} // namespace lstmc::cli
