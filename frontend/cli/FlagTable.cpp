// The records of options.def.
#include <algorithm>

#include <fmt/ranges.h>

#include "executor/session/UpdateScalars.h"
#include "executor/training/Metrics.h"
#include "frontend/cli/Options.h"

namespace lstmc::cli {

const std::vector<CommandRecord> &commands() {
  static const std::vector<CommandRecord> kCommands = {
#define LSTMC_COMMAND(COMMAND, FUNCTION, NAME, SYNOPSIS, LINE)                                     \
  {CommandId::COMMAND, NAME, SYNOPSIS, LINE},
#include "frontend/cli/options.def"
  };
  return kCommands;
}

std::string_view nameOf(CommandId command) { return commands()[size_t(command)].name; }

std::optional<CommandId> findCommand(std::string_view name) {
  for (const CommandRecord &command : commands())
    if (command.name == name)
      return command.id;
  return std::nullopt;
}

std::string didYouMeanCommand(std::string_view name) {
  std::vector<std::string_view> names;
  for (const CommandRecord &command : commands())
    names.push_back(command.name);
  return didYouMean(name, names);
}

/// Whether `names`, separated by spaces, has the word.
static constexpr bool hasWord(std::string_view names, std::string_view word) {
  while (!names.empty()) {
    size_t end = std::min(names.find(' '), names.size());
    if (names.substr(0, end) == word)
      return true;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return false;
}

/// Whether all words of `names` are commands.
static constexpr bool areCommands(std::string_view names) {
  constexpr std::string_view kAll = "*"
#define LSTMC_COMMAND(COMMAND, FUNCTION, NAME, SYNOPSIS, LINE) " " NAME
#include "frontend/cli/options.def"
      ;
  while (!names.empty()) {
    size_t end = std::min(names.find(' '), names.size());
    if (!hasWord(kAll, names.substr(0, end)))
      return false;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return true;
}

#define LSTMC_FLAG(FIELD, NAME, LETTER, TYPE, ARGUMENT, DEFAULT, GROUP, HELP, COMMANDS)            \
  static_assert(argumentFits<TYPE>(ARGUMENT), "--" NAME " shows another argument than its type");  \
  static_assert(areCommands(COMMANDS), "--" NAME " is of a command that there is not");
#define LSTMC_SPELLING(NAME, FIELD, BEFORE, AFTER, ARGUMENT, HELP, COMMANDS)                       \
  static_assert(areCommands(COMMANDS), "--" NAME " is of a command that there is not");
#include "frontend/cli/options.def"

/// A help text that is a list of names, which has a table of its own.
static std::string_view namesOr(std::string_view help) {
  static const std::string kOptimizers =
      fmt::format("{}", fmt::join(session::optimizerNames(), " "));
  static const std::string kMetrics = fmt::format("{}", fmt::join(training::metricNames(), " "));
  return help == "{optimizers}" ? kOptimizers : help == "{metrics}" ? kMetrics : help;
}

const std::vector<FlagRecord> &flags() {
  static const std::vector<FlagRecord> kFlags = {
#define LSTMC_FLAG(FIELD, NAME, LETTER, TYPE, ARGUMENT, DEFAULT, GROUP, HELP, COMMANDS)            \
  {Flag::FIELD,    NAME,         LETTER,           ARGUMENT,      DEFAULT, TYPE::kChoiceWords,     \
   TYPE::kRepeats, TYPE::kSwept, FlagGroup::GROUP, namesOr(HELP), COMMANDS},
#define LSTMC_SPELLING(NAME, FIELD, BEFORE, AFTER, ARGUMENT, HELP, COMMANDS)                       \
  {Flag::FIELD, NAME,           0,    ARGUMENT, "",   "",     false,                               \
   false,       FlagGroup::Own, HELP, COMMANDS, true, BEFORE, AFTER},
#include "frontend/cli/options.def"
  };
  return kFlags;
}

const FlagRecord &recordOf(Flag flag) {
  return *std::find_if(flags().begin(), flags().end(), [&](const FlagRecord &record) {
    return record.flag == flag && !record.spelling;
  });
}

bool FlagRecord::servedBy(CommandId command) const {
  return commands == "*" ? command != CommandId::Opt : hasWord(commands, nameOf(command));
}

} // namespace lstmc::cli
