// launch: a command as several processes that work for one job.

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "executor/data/DataSpec.h"
#include "executor/ranks/OpenWire.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/JobCheckpoints.h"
#include "frontend/cli/LaunchFlags.h"
#include "frontend/cli/SignalsForRanks.h"
#include "frontend/cli/SyncedFiles.h"
#include "frontend/driver/Threads.h"
#include "frontend/symbol/Render.h"
#include "passes/planning/rates/MachineRates.h"

namespace lstmc::cli {

namespace {

/// Flags of `launch` that say how results are shown or kept are the job's: the ranks get them,
/// where they have not been given others.
Result<Options> withCommonFlags(const Options &options, const Options &command) {
  constexpr Flag kOfJob[] = {Flag::json,     Flag::format, Flag::quiet,  Flag::color,
                             Flag::progress, Flag::werror, Flag::dryRun, Flag::force};
  Options own = options;
  for (const GivenValue &given : options.given) {
    const Flag flag = given.record->flag;
    if (given.origin != ValueOrigin::Flag || std::ranges::find(kOfJob, flag) == std::end(kOfJob) ||
        command.isGiven(flag))
      continue;
    const std::string word = fmt::format("--{}", given.record->name);
    own.rest.push_back(given.record->argument.empty() ? word : word + "=" + given.value);
  }
  return own;
}

/// Standard input is one process's, and there are several.
Status refuseInput(const Options &command) {
  bool asked = std::ranges::find(command.operands, "-") != command.operands.end();
  for (const auto &text : {command.data, command.valid})
    if (Result<data::DataSpec> spec = data::DataSpec::parse(text.value_or("")); text && spec.ok())
      for (const auto &[input, file] : spec->files)
        asked = asked || file == "-";
  return asked ? fail(ErrorCode::E0001, "ranks have no standard input: write it to a file")
               : Status();
}

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
  if (which != CommandId::Train && which != CommandId::Eval && which != CommandId::Run &&
      which != CommandId::Plan)
    return fail(ErrorCode::E0001, "launch runs train, eval, run or plan, not {}",
                command.commandName());
  LSTMC_TRY(refuseInput(command));
  return command;
}

/// The same again, from the newest checkpoint that the job has made by now, if any.
Result<std::vector<std::string>> wordsAgain(std::vector<std::string> words, const Options &command,
                                            const JobCheckpoints &checkpoints,
                                            const launch::Start &start) {
  if (command.resume)
    return words;
  LSTMC_ASSIGN(bool goesOn, checkpoints.canGoOn(start));
  if (goesOn)
    words.push_back("--resume");
  return words;
}

/// `document` gets what the last start has written to stdout, if the command makes one document:
/// each start would make its own.
Result<launch::JobEnd> carryOut(launch::Watch &watch, const Options &options,
                                const Options &command, const std::string &library,
                                Console &console, std::shared_ptr<std::string> &document) {
  const std::string program = programOf(watch.start);
  JobCheckpoints checkpoints;
  if (*options.maxRestarts > 0) {
    LSTMC_ASSIGN(checkpoints, JobCheckpoints::before(command, watch.start));
  }
  std::vector<std::string> words = options.rest;
  for (int64_t restarts = 0;; ++restarts) {
    watch.start.command = {program};
    watch.start.command.insert(watch.start.command.end(), words.begin(), words.end());
    if (command.wantsJson()) {
      document = std::make_shared<std::string>(); // an earlier start's thread may have its own
      watch.start.result = [document](std::string_view text) { *document += text; };
    }
    LSTMC_ASSIGN(launch::JobEnd end, launch::supervise(watch));
    if (!end.lostRank || restarts == *options.maxRestarts || SignalsForRanks::asked().first > 0)
      return end;
    if (!end.message.empty())
      console.say(end.message);
    console.say(
        fmt::format("launch    starts again, {} of {}", restarts + 1, *options.maxRestarts));
    LSTMC_TRY(leaveLostHosts(watch.start, console));
    if (options.syncDstDir) // rank 0 may be on another host now
      LSTMC_TRY(syncTo(*options.syncDstDir, command, library, watch));
    LSTMC_ASSIGN(words, wordsAgain(options.rest, command, checkpoints, watch.start));
  }
}

} // namespace

/// The ranks' result, or in its place what kept the job from having one.
static CommandResult endOf(const launch::JobEnd &end, const std::string *document,
                           Console &console) {
  if (end.lostRank && !end.message.empty())
    return fail(end.code, "{}", end.message);
  if (!end.message.empty())
    console.say(end.message);
  if (document && !document->empty())
    console.write(*document);
  else if (document)
    console.print(symbol::renderJson({asDiagnostic(fail(end.code, "{}", end.message))}));
  return ExitCode(end.exit);
}

static CommandResult launchRanks(const Options &options, const Options &command, Console &console) {
  LSTMC_CHECKED_ASSIGN(launch::Watch watch, watchAsked(options, command, console));
  LSTMC_CHECKED_ASSIGN(std::string library, ranks::findMpiLibrary());
  LSTMC_CHECKED_TRY(checkHosts(watch.start));
  if (options.syncDstDir)
    LSTMC_CHECKED_TRY(syncTo(*options.syncDstDir, command, library, watch));
  console.say(fmt::format("launch    {} ranks by {}", watch.start.ranks, library), 1);
  // Once for all of them, alone on the machine.
  ::setenv("LSTMC_WORLD_SIZE", std::to_string(watch.start.ranks).c_str(), 1);
  measureIfNew(threadsInQuestion(command), console);
  if (!watch.start.hosts.empty())
    watch.start.environment["LSTMC_RATES"] = planning::keptRatesText();

  const SignalsForRanks signals;
  watch.signals = SignalsForRanks::asked;
  std::shared_ptr<std::string> document;
  LSTMC_CHECKED_ASSIGN(launch::JobEnd end,
                       carryOut(watch, options, command, library, console, document));
  return endOf(end, document.get(), console);
}

CommandResult launchCommand(const Options &asked, Console &console) {
  LSTMC_CHECKED_ASSIGN(Options command, readCommand(asked));
  LSTMC_CHECKED_ASSIGN(Options options, withCommonFlags(asked, command));
  LSTMC_CHECKED_ASSIGN(command, readCommand(options));
  CommandResult result = launchRanks(options, command, console);
  if (result.ok() || console.json() || !command.wantsJson())
    return result;
  console.print(symbol::renderJson(result.diagnostics())); // --json of the command alone
  return result;
}

} // namespace lstmc::cli
