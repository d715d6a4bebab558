#include "frontend/cli/Options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <sstream>

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

#include "executor/base/NumberText.h"
#include "executor/base/StandardStreams.h"
#include "executor/training/FitSettings.h"
#include "executor/training/Metrics.h"
#include "frontend/symbol/Suggest.h"

namespace lstmc::cli {

const std::vector<CommandRecord> &commands() {
  static const std::vector<CommandRecord> kCommands = {
#define LSTMC_COMMAND(NAME, SYNOPSIS, LINE) {NAME, SYNOPSIS, LINE},
#include "frontend/cli/options.def"
  };
  return kCommands;
}

/// A help text that is a list of names, which has a table of its own.
static std::string_view namesOr(std::string_view help) {
  static const std::string kOptimizers =
      fmt::format("{}", fmt::join(training::optimizerNames(), " "));
  static const std::string kMetrics = fmt::format("{}", fmt::join(training::metricNames(), " "));
  return help == "{optimizers}" ? kOptimizers : help == "{metrics}" ? kMetrics : help;
}

const std::vector<FlagRecord> &flags() {
  static const std::vector<FlagRecord> kFlags = {
#define LSTMC_FLAG(NAME, LETTER, ARGUMENT, DEFAULT, REPEATS, HELP, COMMANDS)                       \
  {NAME, LETTER, ARGUMENT, DEFAULT, REPEATS, namesOr(HELP), COMMANDS},
#include "frontend/cli/options.def"
  };
  return kFlags;
}

bool FlagRecord::servedBy(std::string_view command) const {
  if (commands == "*")
    return command != "opt";
  std::string padded = fmt::format(" {} ", commands);
  return padded.find(fmt::format(" {} ", command)) != std::string::npos;
}

std::vector<std::string_view> FlagRecord::choices() const {
  std::vector<std::string_view> words;
  if (argument.find_first_not_of("abcdefghijklmnopqrstuvwxyz|") == std::string_view::npos &&
      !argument.empty())
    for (size_t at = 0; at <= argument.size();) {
      size_t end = std::min(argument.find('|', at), argument.size());
      words.push_back(argument.substr(at, end - at));
      at = end + 1;
    }
  return words;
}

/// The record that serves the command, where there is one; else any of that name.
static const FlagRecord *findFlag(std::string_view name, std::string_view command) {
  const FlagRecord *other = nullptr;
  for (const FlagRecord &flag : flags())
    if (flag.name == name) {
      if (flag.servedBy(command))
        return &flag;
      other = &flag;
    }
  return other;
}

std::string didYouMean(std::string_view word, const std::vector<std::string_view> &candidates,
                       std::string_view prefix) {
  std::string name = nearest(word, candidates);
  return name.empty() ? name : fmt::format("; did you mean \"{}{}\"?", prefix, name);
}

bool Options::has(std::string_view flag) const {
  return std::any_of(given.begin(), given.end(), [&](const Given &g) { return g.flag == flag; });
}

std::vector<std::string> Options::values(std::string_view flag) const {
  std::vector<std::string> result;
  for (const Given &g : given)
    if (g.flag == flag)
      result.push_back(g.value);
  return result;
}

std::optional<std::string> Options::value(std::string_view flag) const {
  std::vector<std::string> all = values(flag);
  return all.empty() ? std::nullopt : std::optional(all.back());
}

int Options::count(std::string_view flag) const { return int(values(flag).size()); }

std::string Options::text(std::string_view flag) const {
  return value(flag).value_or(std::string(findFlag(flag, command)->fallback));
}

bool Options::json() const { return has("json") || text("format") == "json"; }

OutputFile::Existing Options::existing() const {
  return has("force") ? OutputFile::Existing::Replace : OutputFile::Existing::Keep;
}

Options Options::with(std::string_view flag, const std::string &value) const {
  Options other = *this;
  std::erase_if(other.given, [&](const Given &g) { return g.flag == flag; });
  if (!value.empty())
    other.given.push_back({findFlag(flag, command)->name, value, ValueOrigin::Flag, ""});
  return other;
}

std::vector<std::string> splitCommas(std::string_view text) {
  std::vector<std::string> parts;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find(',', at), text.size());
    if (end > at)
      parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

static Result<int64_t> parseScaled(std::string_view flag, std::string_view text, int64_t kilo,
                                   std::string_view what) {
  if (std::optional<int64_t> number = scaledNumber(text, kilo))
    return *number;
  return fail(ErrorCode::E0001, "--{} takes {}, got \"{}\"", flag, what, text);
}

Result<int64_t> parseCount(std::string_view flag, std::string_view text) {
  return parseScaled(flag, text, 1000, "a count (K, M, G are powers of 1,000)");
}
Result<int64_t> parseBytes(std::string_view flag, std::string_view text) {
  return parseScaled(flag, text, 1024, "bytes (K, M, G are powers of 1,024)");
}

Result<int64_t> Options::countInForce(std::string_view flag) const {
  return parseCount(flag, text(flag));
}
Result<int64_t> Options::bytesInForce(std::string_view flag) const {
  return parseBytes(flag, text(flag));
}
Result<double> Options::numberInForce(std::string_view flag) const {
  std::string digits = text(flag);
  double number = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || !std::isfinite(number))
    return fail(ErrorCode::E0001, "--{} takes a number, got \"{}\"", flag, digits);
  return number;
}

namespace {

/// CLI11's parser for one subcommand, and where it puts the values.
struct Parser {
  explicit Parser(std::string_view command) : app("", std::string(command)) {
    app.set_help_flag();
    app.add_option("operands", operands);
    for (const FlagRecord &flag : flags()) {
      if (!flag.servedBy(command))
        continue;
      std::string names = fmt::format("--{}", flag.name);
      if (flag.letter)
        names = fmt::format("-{},{}", flag.letter, names);
      Slot &slot = slots[flag.name];
      if (flag.argument.empty())
        slot.option = app.add_flag(names, slot.switches);
      else
        slot.option = app.add_option(names, slot.values)
                          ->allow_extra_args(false)
                          ->type_size(1)
                          ->expected(1, 1 << 20);
    }
  }

  struct Slot {
    CLI::Option *option = nullptr;
    std::vector<std::string> values;
    int switches = 0;
  };
  CLI::App app;
  std::map<std::string_view, Slot> slots;
  std::vector<std::string> operands;
};

Error unknownFlag(std::string_view command, std::string_view word) {
  std::string_view name = word.substr(0, word.find('='));
  while (name.starts_with('-'))
    name.remove_prefix(1);
  if (const FlagRecord *flag = findFlag(name, command))
    return fail(ErrorCode::E0001, "lstmc {} has no use for --{}; it belongs to {}", command,
                flag->name, flag->commands);
  std::vector<std::string_view> candidates;
  for (const FlagRecord &flag : flags())
    if (flag.servedBy(command))
      candidates.push_back(flag.name);
  return fail(ErrorCode::E0001, "lstmc {} has no flag \"{}\"{}", command,
              word.substr(0, word.find('=')), didYouMean(name, candidates, "--"));
}

/// Whether a value of that flag is in force already, so that one of a lower rank goes unread.
/// NAME=VALUE flags are compared name by name.
bool isGiven(const Options &options, const FlagRecord &flag, const std::string &value,
             size_t among) {
  bool named = flag.argument.ends_with("=VALUE");
  auto nameOf = [](const std::string &text) { return text.substr(0, text.find('=')); };
  for (size_t i = 0; i < among; ++i)
    if (options.given[i].flag == flag.name &&
        (!named || nameOf(options.given[i].value) == nameOf(value)))
      return true;
  return false;
}

/// Adds those values of a config file that nothing of a higher rank has given.
Status readConfig(const std::string &path, Options &options) {
  std::vector<CLI::ConfigItem> items;
  try {
    if (path == "-") {
      LSTMC_ASSIGN(std::string text, readInput());
      std::istringstream input(text);
      items = CLI::ConfigTOML().from_config(input);
    } else {
      items = CLI::ConfigTOML().from_file(path);
    }
  } catch (const CLI::Error &error) {
    return failAt({path}, ErrorCode::E0601, "cannot read this config file");
  }
  size_t among = options.given.size();
  for (const CLI::ConfigItem &item : items) {
    if (item.name == "++" || item.name == "--")
      continue; // CLI11's marks for the begin and end of a section
    if (!item.parents.empty() && item.parents.front() != options.command)
      continue;
    const FlagRecord *flag = findFlag(item.name, options.command);
    if (!flag || !flag->servedBy(options.command)) {
      if (item.parents.empty() && flag)
        continue; // a value for other subcommands
      return failAt({path}, ErrorCode::E0001, "{}",
                    unknownFlag(options.command, item.name).message);
    }
    for (const std::string &input : item.inputs) {
      if (isGiven(options, *flag, input, among))
        continue;
      if (!flag->argument.empty())
        options.given.push_back({flag->name, input, ValueOrigin::Config, path});
      else if (input == "true")
        options.given.push_back({flag->name, "", ValueOrigin::Config, path});
      else if (input != "false")
        return failAt({path}, ErrorCode::E0001, "{} is true or false, got \"{}\"", flag->name,
                      input);
    }
  }
  return {};
}

/// MXNet's spellings are those of flags that we have too.
void translate(Options &options) {
  struct Word {
    std::string_view mxnet, ours, before, after;
  };
  static constexpr Word kWords[] = {{"gpus", "devices", "gpu:", ""},
                                    {"batch-size", "batch", "", ""},
                                    {"num-epochs", "after", "", "e"},
                                    {"disp-batches", "disp-every", "", "u"}};
  for (Options::Given &given : options.given)
    for (const Word &word : kWords)
      if (given.flag == word.mxnet) {
        given.flag = word.ours;
        given.value = fmt::format("{}{}{}", word.before, given.value, word.after);
      }
}

/// What the table says of values: one where only one may stand, words of a choice, forms that a
/// command has.
Status checkValues(const Options &options) {
  for (const FlagRecord &flag : flags()) {
    if (!flag.servedBy(options.command))
      continue;
    std::vector<std::string> values = options.values(flag.name);
    bool swept =
        flag.name == "batch" || flag.name == "threads" || flag.name == "dtype"; // lists are bench's
    if ((!flag.repeats || (swept && options.command != "bench")) && values.size() > 1)
      return fail(ErrorCode::E0001, "--{} is given {} times, once is enough", flag.name,
                  values.size());
    std::vector<std::string_view> choices = flag.choices();
    for (const std::string &value : values)
      if (!choices.empty() && std::find(choices.begin(), choices.end(), value) == choices.end())
        return fail(ErrorCode::E0001, "--{} takes {}, got \"{}\"{}", flag.name, flag.argument,
                    value, didYouMean(value, choices));
  }
  if (options.json() && options.has("output") && options.value("output") == "-")
    return fail(ErrorCode::E0001, "-o - and --json both want stdout; give one of them a file");
  std::string format = options.text("format");
  bool bench = options.command == "bench", train = options.command == "train";
  if ((format == "jsonl" && !bench && !train) ||
      ((format == "csv" || format == "md") && !bench && options.command != "plan"))
    return fail(ErrorCode::E0001, "lstmc {} has no --format {}", options.command, format);
  return {};
}

} // namespace

Result<Options> parseOptions(int argc, char **argv) {
  Options options;
  if (argc < 2)
    return options;
  options.command = argv[1];
  std::vector<std::string_view> names;
  for (const CommandRecord &command : commands())
    names.push_back(command.name);
  if (std::find(names.begin(), names.end(), options.command) == names.end())
    return fail(ErrorCode::E0001, "lstmc has no subcommand \"{}\"{}", options.command,
                didYouMean(options.command, names));
  if (options.command == "opt") { // spoken as mlir-opt is
    options.rest.assign(argv + 2, argv + argc);
    return options;
  }

  Parser parser(options.command);
  parser.app.allow_extras();
  try {
    std::vector<std::string> arguments(argv + 2, argv + argc);
    std::reverse(arguments.begin(), arguments.end()); // CLI11 takes them from the back
    parser.app.parse(arguments);
  } catch (const CLI::ArgumentMismatch &error) {
    return fail(ErrorCode::E0001, "{}", error.what());
  } catch (const CLI::Error &error) {
    return fail(ErrorCode::E0001, "{}", error.what());
  }
  for (const std::string &extra : parser.app.remaining())
    if (extra.size() > 1 && extra[0] == '-')
      return unknownFlag(options.command, extra);
  options.operands = parser.operands;
  for (const std::string &extra : parser.app.remaining())
    options.operands.push_back(extra);
  for (CLI::Option *option : parser.app.parse_order()) {
    for (auto &[name, slot] : parser.slots)
      if (slot.option == option && !options.has(name)) {
        const FlagRecord &flag = *findFlag(name, options.command);
        if (flag.argument.empty())
          for (int i = 0; i < slot.switches; ++i)
            options.given.push_back({name, "", ValueOrigin::Flag, ""});
        for (const std::string &value : slot.values)
          options.given.push_back({name, value, ValueOrigin::Flag, ""});
      }
  }
  translate(options);
  LSTMC_TRY(checkValues(options));

  if (const char *threads = std::getenv("LSTMC_THREADS");
      threads && findFlag("threads", options.command)->servedBy(options.command) &&
      !options.has("threads"))
    options.given.push_back({"threads", threads, ValueOrigin::Environment, "LSTMC_THREADS"});
  std::vector<std::string> configs = options.values("config");
  if (const char *config = std::getenv("LSTMC_CONFIG"); config && configs.empty())
    configs.push_back(config);
  std::reverse(configs.begin(), configs.end()); // the later wins: read it first
  for (const std::string &config : configs)
    LSTMC_TRY(readConfig(config, options));
  translate(options);
  LSTMC_TRY(checkValues(options));
  return options;
}

} // namespace lstmc::cli
