#include "frontend/cli/Options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <sstream>

#include <CLI/CLI.hpp>

namespace lstmc::cli {

const std::vector<CommandRecord> &commands() {
  static const std::vector<CommandRecord> kCommands = {
#define LSTMC_COMMAND(NAME, SYNOPSIS, LINE) {NAME, SYNOPSIS, LINE},
#include "frontend/cli/options.def"
  };
  return kCommands;
}

const std::vector<FlagRecord> &flags() {
  static const std::vector<FlagRecord> kFlags = {
#define LSTMC_FLAG(NAME, LETTER, ARGUMENT, REPEATS, HELP, COMMANDS)                                \
  {NAME, LETTER, ARGUMENT, REPEATS, HELP, COMMANDS},
#include "frontend/cli/options.def"
  };
  return kFlags;
}

bool FlagRecord::servedBy(std::string_view command) const {
  if (commands == "*")
    return true;
  std::string padded = fmt::format(" {} ", commands);
  return padded.find(fmt::format(" {} ", command)) != std::string::npos;
}

static size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
    }
  }
  return row.back();
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string_view> &candidates) {
  size_t best = word.size() / 3 + 1;
  std::optional<std::string> found;
  for (std::string_view candidate : candidates) {
    size_t distance = editDistance(word, candidate);
    if (distance == best)
      found.reset();
    if (distance < best) {
      best = distance;
      found = std::string(candidate);
    }
  }
  return found;
}

static std::string didYouMean(std::string_view word, const std::vector<std::string_view> &candidates,
                              std::string_view prefix = "") {
  std::optional<std::string> name = nearest(word, candidates);
  return name ? fmt::format("; did you mean \"{}{}\"?", prefix, *name) : "";
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

bool Options::json() const { return has("json") || value("format") == "json"; }

static Result<int64_t> parseScaled(std::string_view flag, std::string_view text, int64_t kilo,
                                   std::string_view what) {
  int64_t scale = 1;
  std::string_view digits = text;
  if (!digits.empty()) {
    size_t power = std::string_view("KMG").find(digits.back());
    if (power != std::string_view::npos) {
      digits.remove_suffix(1);
      for (size_t i = 0; i <= power; ++i)
        scale *= kilo;
    }
  }
  double number = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  double scaled = number * double(scale);
  if (error != std::errc() || end != digits.data() + digits.size() || !(scaled >= 0) || scaled > 9e18 ||
      scaled != std::floor(scaled))
    return fail(ErrorCode::E0001, "--{} takes {}, got \"{}\"", flag, what, text);
  return int64_t(scaled);
}

Result<int64_t> parseCount(std::string_view flag, std::string_view text) {
  return parseScaled(flag, text, 1000, "a count (K, M, G are powers of 1,000)");
}
Result<int64_t> parseBytes(std::string_view flag, std::string_view text) {
  return parseScaled(flag, text, 1024, "bytes (K, M, G are powers of 1,024)");
}

Result<int64_t> Options::count(std::string_view flag, int64_t fallback) const {
  std::optional<std::string> text = value(flag);
  return text ? parseCount(flag, *text) : Result<int64_t>(fallback);
}
Result<int64_t> Options::bytes(std::string_view flag, int64_t fallback) const {
  std::optional<std::string> text = value(flag);
  return text ? parseBytes(flag, *text) : Result<int64_t>(fallback);
}
Result<double> Options::number(std::string_view flag, double fallback) const {
  std::optional<std::string> text = value(flag);
  if (!text)
    return fallback;
  double number = 0;
  auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end != text->data() + text->size() || !std::isfinite(number))
    return fail(ErrorCode::E0001, "--{} takes a number, got \"{}\"", flag, *text);
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
        slot.option = app.add_option(names, slot.values)->allow_extra_args(false)->type_size(1)->expected(1, 1 << 20);
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

const FlagRecord *findFlag(std::string_view name) {
  for (const FlagRecord &flag : flags())
    if (flag.name == name)
      return &flag;
  return nullptr;
}

Error unknownFlag(std::string_view command, std::string_view word) {
  std::string_view name = word.substr(0, word.find('='));
  while (name.starts_with('-'))
    name.remove_prefix(1);
  if (const FlagRecord *flag = findFlag(name))
    return fail(ErrorCode::E0001, "lstmc {} has no use for --{}; it belongs to {}", command, flag->name, flag->commands);
  std::vector<std::string_view> candidates;
  for (const FlagRecord &flag : flags())
    if (flag.servedBy(command))
      candidates.push_back(flag.name);
  return fail(ErrorCode::E0001, "lstmc {} has no flag \"{}\"{}", command, word.substr(0, word.find('=')),
              didYouMean(name, candidates, "--"));
}

/// Values of a config file go behind those of the command line, so that the latter win.
Status readConfig(const std::string &path, Options &options) {
  std::vector<CLI::ConfigItem> items;
  try {
    items = CLI::ConfigTOML().from_file(path);
  } catch (const CLI::Error &error) {
    return failAt({path}, ErrorCode::E0601, "cannot read this config file");
  }
  for (const CLI::ConfigItem &item : items) {
    if (item.name == "++" || item.name == "--")
      continue; // CLI11's marks for the begin and end of a section
    if (!item.parents.empty() && item.parents.front() != options.command)
      continue;
    const FlagRecord *flag = findFlag(item.name);
    if (!flag || !flag->servedBy(options.command)) {
      if (item.parents.empty() && flag)
        continue; // a value for other subcommands
      return failAt({path}, ErrorCode::E0001, "{}", unknownFlag(options.command, item.name).message);
    }
    if (options.has(flag->name))
      continue;
    if (flag->argument.empty()) {
      if (item.inputs.size() == 1 && item.inputs.front() == "true")
        options.given.push_back({flag->name, "", ValueOrigin::Config});
      continue;
    }
    for (const std::string &input : item.inputs)
      options.given.push_back({flag->name, input, ValueOrigin::Config});
  }
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
        const FlagRecord &flag = *findFlag(name);
        if (flag.argument.empty())
          for (int i = 0; i < slot.switches; ++i)
            options.given.push_back({name, "", ValueOrigin::Flag});
        for (const std::string &value : slot.values)
          options.given.push_back({name, value, ValueOrigin::Flag});
        if (!flag.repeats && options.count(name) > 1)
          return fail(ErrorCode::E0001, "--{} is given {} times, once is enough", name, options.count(name));
      }
  }

  if (const char *threads = std::getenv("LSTMC_THREADS"); threads && findFlag("threads")->servedBy(options.command) &&
                                                          !options.has("threads"))
    options.given.push_back({"threads", threads, ValueOrigin::Environment});
  std::vector<std::string> configs = options.values("config");
  if (const char *config = std::getenv("LSTMC_CONFIG"); config && configs.empty())
    configs.push_back(config);
  std::reverse(configs.begin(), configs.end()); // the later wins: read it first
  for (const std::string &config : configs)
    LSTMC_TRY(readConfig(config, options));
  return options;
}

} // namespace lstmc::cli
