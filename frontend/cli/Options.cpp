#include "frontend/cli/Options.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <sstream>

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

#include "executor/base/NumberText.h"
#include "executor/base/StandardStreams.h"
#include "executor/base/Suggest.h"
#include "frontend/cli/MxnetVariables.h"
#include "frontend/driver/Ranks.h"
#include "frontend/lnet/Load.h"
#include "frontend/names/Suggestion.h"

namespace lstmc::cli {

bool Options::isGiven(Flag flag) const {
  switch (flag) {
#define LSTMC_FLAG(FIELD, NAME, LETTER, TYPE, ARGUMENT, DEFAULT, GROUP, HELP, COMMANDS)            \
  case Flag::FIELD:                                                                                \
    return TYPE::given(FIELD);
#include "frontend/cli/options.def"
  }
  return false;
}

OutputFile::Existing Options::existing() const {
  return force ? OutputFile::Existing::Replace : OutputFile::Existing::Keep;
}

namespace {

/// The record that serves the command, where there is one; else any of that name.
const FlagRecord *findFlag(std::string_view name, CommandId command) {
  const FlagRecord *other = nullptr;
  for (const FlagRecord &flag : flags())
    if (flag.name == name) {
      if (flag.servedBy(command))
        return &flag;
      other = &flag;
    }
  return other;
}

/// CLI11's parser for one subcommand, and where it puts the values.
struct Parser {
  explicit Parser(CommandId command) : app("", std::string(nameOf(command))) {
    app.set_help_flag();
    app.add_option("operands", operands);
    for (const FlagRecord &flag : flags()) {
      if (!flag.servedBy(command))
        continue;
      std::string names = fmt::format("--{}", flag.name);
      if (flag.letter)
        names = fmt::format("-{},{}", flag.letter, names);
      Slot &slot = slots[&flag];
      if (flag.argument.empty())
        slot.option = app.add_flag(names, slot.switches);
      else
        // One value each time that it is given: the next word may be the model.
        slot.option = app.add_option(names, slot.values)
                          ->allow_extra_args(false)
                          ->type_size(1)
                          ->expected(1, CLI::detail::expected_max_vector_size);
    }
  }

  struct Slot {
    CLI::Option *option = nullptr;
    std::vector<std::string> values;
    int switches = 0;
  };
  CLI::App app;
  std::map<const FlagRecord *, Slot> slots;
  std::vector<std::string> operands;
};

/// `--name=` is that flag with an empty value, which CLI11 would take from the next word.
std::vector<std::string> wordsOf(char **begin, char **end) {
  std::vector<std::string> words;
  for (const std::string_view word : std::span(begin, end)) {
    const bool isEmpty = word.starts_with("--") && word.find('=') == word.size() - 1;
    words.emplace_back(isEmpty ? word.substr(0, word.size() - 1) : word);
    if (isEmpty)
      words.emplace_back();
  }
  return words;
}

bool isFitKey(std::string_view name) {
  const std::vector<std::string_view> keys = lnet::fitKeys();
  return std::ranges::find(keys, name) != keys.end();
}

Error unknownFlag(CommandId command, std::string_view word) {
  std::string_view name = word.substr(0, word.find('='));
  while (name.starts_with('-'))
    name.remove_prefix(1);
  if (const FlagRecord *flag = findFlag(name, command))
    return fail(ErrorCode::E0001, "lstmc {} has no use for --{}; it belongs to {}", nameOf(command),
                flag->name, flag->commands);
  std::vector<std::string_view> candidates;
  for (const FlagRecord &flag : flags())
    if (flag.servedBy(command))
      candidates.push_back(flag.name);
  std::string dashed(name);
  std::ranges::replace(dashed, '_', '-');
  std::string help = suggestion(NameKind::Flag, dashed, {});
  std::string key(name);
  std::ranges::replace(key, '-', '_');
  const FlagRecord *fit = findFlag("fit", command);
  if (help.empty() && fit && fit->servedBy(command) && isFitKey(key))
    help = fmt::format("here it is --fit {}=VALUE", key);
  std::string near = help.empty() ? didYouMean(name, candidates, "--") : "; " + help;
  if (near.empty()) {
    std::vector<std::string_view> nearest = nearestFirst(name, candidates);
    nearest.resize(3);
    near = fmt::format("; the nearest are --{}; lstmc help {} --all lists all",
                       fmt::join(nearest, ", --"), nameOf(command));
  }
  return fail(ErrorCode::E0001, "lstmc {} has no flag \"{}\"{}", nameOf(command),
              word.substr(0, word.find('=')), near);
}

/// Workers that have a batch each, under a store of that name.
int64_t workersOf(std::string_view store) {
  return store.starts_with("dist_") ? jobRanks() - jobServers() : 1;
}

/// A value of MXNet's spelling is one of our flag. Its batch is that of each worker.
Result<GivenValue> translated(GivenValue given, int64_t workers) {
  if (!given.record->spelling)
    return given;
  if (given.record->name == "batch-size" && workers > 1) {
    LSTMC_ASSIGN(int64_t rows, Count::parse(given.record->name, given.value));
    given.value = std::to_string(std::min(rows, int64_t(1) << 40) * workers);
  }
  given.value = fmt::format("{}{}{}", given.record->before, given.value, given.record->after);
  given.record = &recordOf(given.record->flag);
  return given;
}

/// What was typed, in its order.
Result<std::vector<GivenValue>> valuesTyped(const Parser &parser) {
  int64_t workers = 1;
  for (const auto &[record, slot] : parser.slots)
    if (record->flag == Flag::kvStore && !slot.values.empty())
      workers = workersOf(slot.values.back());
  std::vector<GivenValue> given;
  std::vector<const FlagRecord *> seen;
  for (CLI::Option *option : parser.app.parse_order())
    for (const auto &[record, slot] : parser.slots) {
      if (slot.option != option || std::find(seen.begin(), seen.end(), record) != seen.end())
        continue;
      seen.push_back(record);
      for (int i = 0; i < slot.switches; ++i)
        given.push_back({record, "", ValueOrigin::Flag, ""});
      for (const std::string &value : slot.values) {
        LSTMC_ASSIGN(given.emplace_back(),
                     translated({record, value, ValueOrigin::Flag, ""}, workers));
      }
    }
  return given;
}

/// How often the flag was given, by any of its names.
size_t timesGiven(const Options &options, Flag flag) {
  return size_t(std::count_if(options.given.begin(), options.given.end(),
                              [&](const GivenValue &g) { return g.record->flag == flag; }));
}

/// Whether a value of that flag is in force already, so that one of a lower rank goes unread.
/// NAME=VALUE flags are compared name by name.
bool isInForce(const Options &options, const GivenValue &lower, size_t among) {
  bool named = lower.record->argument.ends_with("=VALUE");
  auto nameOf = [](const std::string &text) { return text.substr(0, text.find('=')); };
  for (size_t i = 0; i < among; ++i)
    if (options.given[i].record->flag == lower.record->flag &&
        (!named || nameOf(options.given[i].value) == nameOf(lower.value)))
      return true;
  return false;
}

Result<std::vector<CLI::ConfigItem>> itemsOf(const std::string &path) {
  try {
    if (path != "-")
      return CLI::ConfigTOML().from_file(path);
    LSTMC_ASSIGN(std::string text, readInput());
    std::istringstream input(text);
    return CLI::ConfigTOML().from_config(input);
  } catch (const CLI::Error &error) {
    return failAt({path}, ErrorCode::E0601, "cannot read this config file");
  }
}

/// By what was typed.
int64_t workersIn(const Options &options) {
  const auto store = std::ranges::find_if(
      options.given, [](const GivenValue &given) { return given.record->flag == Flag::kvStore; });
  return store == options.given.end() ? 1 : workersOf(store->value);
}

/// Adds those values of a config file that nothing of a higher rank has given.
Status readConfig(const std::string &path, Options &options) {
  LSTMC_ASSIGN(std::vector<CLI::ConfigItem> items, itemsOf(path));
  size_t among = options.given.size();
  for (const CLI::ConfigItem &item : items) {
    if (item.name == "++" || item.name == "--")
      continue; // CLI11's marks for the begin and end of a section
    if (!item.parents.empty() && item.parents.front() != options.commandName())
      continue;
    const FlagRecord *flag = findFlag(item.name, *options.command);
    if (!flag || !flag->servedBy(*options.command)) {
      if (item.parents.empty() && flag)
        continue; // a value for other subcommands
      return failAt({path}, ErrorCode::E0001, "{}",
                    unknownFlag(*options.command, item.name).message);
    }
    for (const std::string &input : item.inputs) {
      bool isSwitch = flag->argument.empty();
      LSTMC_ASSIGN(
          GivenValue value,
          translated({flag, isSwitch ? "" : input, ValueOrigin::Config, path}, workersIn(options)));
      if (isInForce(options, value, among))
        continue;
      if (!isSwitch || input == "true")
        options.given.push_back(value);
      else if (input != "false")
        return failAt({path}, ErrorCode::E0001, "{} is true or false, got \"{}\"", flag->name,
                      input);
    }
  }
  return {};
}

/// The environment, then the config files, below what was typed.
Status readLowerRanks(Options &options) {
  if (const char *threads = std::getenv("LSTMC_THREADS");
      threads && recordOf(Flag::threads).servedBy(*options.command) &&
      timesGiven(options, Flag::threads) == 0)
    options.given.push_back(
        {&recordOf(Flag::threads), threads, ValueOrigin::Environment, "LSTMC_THREADS"});
  takeMxnetVariables(options);
  std::vector<std::string> configs = options.config;
  if (const char *config = std::getenv("LSTMC_CONFIG"); config && configs.empty())
    configs.push_back(config);
  std::reverse(configs.begin(), configs.end()); // the later wins: read it first
  for (const std::string &config : configs)
    LSTMC_TRY(readConfig(config, options));
  return {};
}

/// One value where only one may stand.
Status checkTimes(const Options &options) {
  for (const FlagRecord &flag : flags()) {
    bool several = flag.repeats && (!flag.swept || options.command == CommandId::Bench);
    if (size_t times = timesGiven(options, flag.flag);
        !flag.spelling && flag.servedBy(*options.command) && !several && times > 1)
      return fail(ErrorCode::E0001, "--{} is given {} times, once is enough", flag.name, times);
  }
  return {};
}

Status takeValue(Options &options, const GivenValue &given, std::string_view value) {
  switch (given.record->flag) {
#define LSTMC_FLAG(FIELD, NAME, LETTER, TYPE, ARGUMENT, DEFAULT, GROUP, HELP, COMMANDS)            \
  case Flag::FIELD:                                                                                \
    return TYPE::take(options.FIELD, NAME, value);
#include "frontend/cli/options.def"
  }
  return {};
}

/// Forms that a command has.
Status checkForms(const Options &options) {
  if (options.wantsJson() && options.output == "-")
    return fail(ErrorCode::E0001, "-o - and --json both want stdout; give one of them a file");
  Form form = *options.format;
  bool bench = options.command == CommandId::Bench, train = options.command == CommandId::Train;
  if ((form == Form::JsonLines && !bench && !train) ||
      ((form == Form::Csv || form == Form::Markdown) && !bench &&
       options.command != CommandId::Plan))
    return fail(ErrorCode::E0001, "lstmc {} has no --format {}", options.commandName(),
                wordOf(form));
  return {};
}

/// E0001 where NAME=VALUE of a flag is typed twice for one name.
Status checkNames(const Options &options) {
  std::set<std::pair<Flag, std::string_view>> named;
  for (const GivenValue &given : options.given) {
    const bool hasName =
        given.record->argument == "NAME=VALUE" || given.record->argument == "KEY=VALUE";
    if (!hasName || given.origin != ValueOrigin::Flag)
      continue;
    const std::string_view name = std::string_view(given.value).substr(0, given.value.find('='));
    if (!named.emplace(given.record->flag, name).second)
      return fail(ErrorCode::E0001, "--{} {} is given twice, once is enough", given.record->name,
                  name);
  }
  return {};
}

/// E0001 where the value of a flag is the next flag, and so was forgotten.
Status checkForgotten(const Options &options) {
  for (const GivenValue &given : options.given)
    for (const FlagRecord &flag : flags())
      if (given.origin == ValueOrigin::Flag && flag.flag != Flag::help &&
          flag.servedBy(*options.command) &&
          (given.value == fmt::format("--{}", flag.name) ||
           (flag.letter && given.value == fmt::format("-{}", flag.letter))))
        return fail(ErrorCode::E0001, "--{} takes a value, got the flag {}", given.record->name,
                    given.value);
  return {};
}

/// The fields, of what was given.
Status readFields(Options &options) {
  LSTMC_TRY(checkTimes(options));
  LSTMC_TRY(checkForgotten(options));
  LSTMC_TRY(checkNames(options));
  static_cast<FlagValues &>(options) = FlagValues();
  for (const GivenValue &given : options.given)
    if (given.record->swept && options.command == CommandId::Bench) {
      for (const std::string &part : splitCommas(given.value))
        LSTMC_TRY(takeValue(options, given, part));
    } else {
      LSTMC_TRY(takeValue(options, given, given.value));
    }
  return checkForms(options);
}

/// --model-prefix and --load-epoch as the files that they name.
Status takePrefix(Options &options) {
  if (options.loadEpoch && !options.modelPrefix)
    return fail(ErrorCode::E0001, "--load-epoch {} needs --model-prefix P, whose weights it names",
                *options.loadEpoch);
  // A training of another MODEL writes files of that name.
  if (options.modelPrefix && (options.command != CommandId::Train || options.operands.empty()))
    options.operands.insert(options.operands.begin(), *options.modelPrefix + "-symbol.json");
  if (!options.loadEpoch)
    return {};
  if (options.params)
    return fail(ErrorCode::E0001, "--load-epoch and --params both name the weights: give one");
  options.params = fmt::format("{}-{:04}.params", *options.modelPrefix, *options.loadEpoch);
  return {};
}

} // namespace

Result<Options> parseOptions(int argc, char **argv) {
  Options options;
  if (argc < 2)
    return options;
  options.command = findCommand(argv[1]);
  if (!options.command) {
    const std::string help = suggestion(NameKind::Command, argv[1], {});
    std::string near = help.empty() ? didYouMeanCommand(argv[1]) : "; " + help;
    if (near.empty()) {
      std::vector<std::string_view> names;
      for (const CommandRecord &command : commands())
        names.push_back(command.name);
      near = fmt::format("; the nearest are {}", listed(argv[1], names, 3));
    }
    return fail(ErrorCode::E0001, "lstmc has no subcommand \"{}\"{}", argv[1], near);
  }
  if (options.command == CommandId::Opt) { // spoken as mlir-opt is
    options.rest.assign(argv + 2, argv + argc);
    return options;
  }

  if (options.command == CommandId::Launch) { // after -- is what it starts
    char **end =
        std::find_if(argv + 2, argv + argc, [](std::string_view word) { return word == "--"; });
    if (end != argv + argc)
      options.rest.assign(end + 1, argv + argc);
    argc = int(end - argv);
  }

  Parser parser(*options.command);
  parser.app.allow_extras();
  try {
    std::vector<std::string> arguments = wordsOf(argv + 2, argv + argc);
    std::reverse(arguments.begin(), arguments.end()); // CLI11 takes them from the back
    parser.app.parse(arguments);
  } catch (const CLI::Error &error) {
    return fail(ErrorCode::E0001, "{}", error.what());
  }
  for (const std::string &extra : parser.app.remaining())
    if (extra.size() > 1 && extra[0] == '-')
      return unknownFlag(*options.command, extra);
  options.operands = parser.operands;
  for (const std::string &extra : parser.app.remaining())
    options.operands.push_back(extra);
  if (std::ranges::find(options.operands, "") != options.operands.end())
    return fail(ErrorCode::E0001, "lstmc {} {}: one of these words is \"\"", options.commandName(),
                commands()[size_t(*options.command)].synopsis);
  LSTMC_ASSIGN(options.given, valuesTyped(parser));
  LSTMC_TRY(readFields(options));
  LSTMC_TRY(readLowerRanks(options));
  LSTMC_TRY(readFields(options));
  LSTMC_TRY(takePrefix(options));
  return options;
}

} // namespace lstmc::cli
