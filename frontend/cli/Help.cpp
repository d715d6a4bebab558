// help: everything that is made from options.def and Errors.def.

#include <algorithm>
#include <array>

#include <fmt/ranges.h>

#include "frontend/cli/Commands.h"
#include "frontend/cli/Completion.h"
#include "frontend/cli/HelpPages.h"
#include "frontend/cli/HelpTopics.h"
#include "frontend/driver/Version.h"
#include "frontend/names/Suggestion.h"

namespace lstmc::cli {

std::string overviewText() {
  std::string text = "lstmc compiles networks of symbols, stacked LSTMs above all, and runs them.\n"
                     "usage: lstmc COMMAND [FLAGS] [MODEL]\n\n";
  for (const CommandRecord &command : commands())
    text += fmt::format("  {:<9} {}\n", command.name, command.line);
  return text +
         "MODEL is a .lnet file, an MXNet symbol.json, a package .lstmc or a checkpoint folder. "
         "`lstmc help COMMAND` has its flags.\n";
}

namespace {

/// What help.def says of a command.
struct Usage {
  std::string_view command, flags;
  std::array<std::pair<std::string_view, std::string_view>, 2> examples; ///< and their meanings
};
constexpr Usage kUsages[] = {
#define LSTMC_USAGE(COMMAND, FLAGS, FIRST, FIRST_MEANING, SECOND, SECOND_MEANING)                  \
  {COMMAND, FLAGS, {{{FIRST, FIRST_MEANING}, {SECOND, SECOND_MEANING}}}},
#include "frontend/cli/help.def"
};

struct FlagTopic {
  std::string_view name, flags;
};
constexpr FlagTopic kFlagTopics[] = {
#define LSTMC_TOPIC(NAME, FLAGS) {NAME, FLAGS},
#include "frontend/cli/help.def"
};

std::vector<std::string> wordsOf(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

/// The flag of that name that the command has; null if it has none.
const FlagRecord *flagNamed(std::string_view name, CommandId id) {
  for (const FlagRecord &flag : flags())
    if (flag.name == name && flag.servedBy(id))
      return &flag;
  return nullptr;
}

std::string flagLines(const FlagRecord &flag) {
  constexpr size_t kIndent = 29;
  std::string first = fmt::format("  {:<26} ", flagSynopsis(flag));
  return folded(first, helpOf(flag), kIndent);
}

/// Names of flags, without their meanings.
std::string flagNames(std::string_view topic, const std::vector<std::string> &names) {
  std::vector<std::string> shown;
  for (const std::string &name : names)
    shown.push_back("--" + name);
  return folded(fmt::format("  {:<10}", topic), fmt::format("{}", fmt::join(shown, " ")), 12);
}

/// The usual flags with their meanings, the others by topic.
std::string usualFlags(const Usage &usage, CommandId id) {
  std::vector<std::string> usual = wordsOf(usage.flags);
  std::string text;
  for (const std::string &name : usual)
    text += flagLines(*flagNamed(name, id));
  text += fmt::format("\nmore, which `lstmc help {} --all` explains:\n\n", usage.command);
  for (const FlagTopic &topic : kFlagTopics) {
    std::vector<std::string> names;
    for (const std::string &name : wordsOf(topic.flags))
      if (flagNamed(name, id) && std::ranges::find(usual, name) == usual.end())
        names.push_back(name);
    if (!names.empty())
      text += flagNames(topic.name, names);
  }
  std::vector<std::string> common;
  for (const FlagRecord &flag : flags())
    if (flag.group == FlagGroup::Common)
      common.emplace_back(flag.name);
  return text + flagNames("always", common);
}

std::string allFlags(CommandId id) {
  std::string text;
  for (bool common : {false, true}) {
    for (const FlagRecord &flag : flags())
      if (flag.servedBy(id) && (flag.group == FlagGroup::Common) == common)
        text += flagLines(flag);
    if (!common)
      text += "\n";
  }
  return text;
}

} // namespace

std::string helpText(CommandId id, bool all) {
  std::string_view name = nameOf(id);
  const CommandRecord &command = commands()[size_t(id)];
  std::string text = fmt::format("lstmc {}: {}\n\nusage: lstmc {} {}\n\n", name, command.line, name,
                                 command.synopsis);
  auto usage = std::ranges::find(kUsages, name, &Usage::command);
  if (usage == std::end(kUsages))
    all = true;
  else
    for (const auto &[example, meaning] : usage->examples)
      text += fmt::format("  {}\n      {}\n", example, meaning);
  if (usage != std::end(kUsages))
    text += "\n";
  text += all ? allFlags(id) : usualFlags(*usage, id);
  if (id == CommandId::Opt)
    text += "Passes and all else are flags of mlir-opt; `lstmc opt --help` lists them.\n";
  return text;
}

static std::string manualPage() {
  std::string text = fmt::format(
      ".TH LSTMC 1 \"\" \"{}\"\n.SH NAME\nlstmc \\- compiler and executor for stacked LSTMs\n"
      ".SH SYNOPSIS\n.B lstmc\n.I COMMAND\n[FLAGS] [MODEL]\n.SH COMMANDS\n",
      versionLine());
  for (const CommandRecord &command : commands())
    text += fmt::format(".TP\n.B {} {}\n{}\n", command.name, command.synopsis, command.line);
  text += ".SH FLAGS\n";
  for (const FlagRecord &flag : flags())
    text += fmt::format(".TP\n.B {}\n{}\n({})\n", flagSynopsis(flag), helpOf(flag),
                        flag.group == FlagGroup::Common ? "all commands but opt" : flag.commands);
  text += ".SH EXIT STATUS\n0 done; 1 the answer is no; 2 wrong use; 3 source invalid; 4 cannot be "
          "planned; 5 device not "
          "here;\n6 file missing, corrupt or refused; 7 numbers went wrong; 8 the job fell apart; "
          "9 out of memory; 70 "
          "internal; 129, 130, 143 signal\n";
  return text;
}

/// E0207; or W0319, which the error of its number explains.
static bool isErrorCode(std::string_view name) {
  return name.size() == 5 && (name[0] == 'E' || name[0] == 'W') &&
         name.substr(1).find_first_not_of("0123456789") == name.npos;
}

/// On something that is no command.
static CommandResult helpOn(const Options &options, Console &console) {
  const std::string &name = options.operands[0];
  if (std::optional<std::string> text = topicText(name)) {
    console.write(*text);
    return ExitCode::Ok;
  }
  if (isErrorCode(name))
    return explainCommand(options, console);
  std::vector<std::string> topics = topicNames();
  std::vector<std::string_view> names(topics.begin(), topics.end());
  for (const CommandRecord &known : commands())
    names.push_back(known.name);
  std::string near = didYouMean(name, names);
  if (near.empty())
    near = fmt::format("; the nearest are {}", listed(name, names, 3));
  return fail(
      ErrorCode::E0001,
      "there is no help on \"{}\"{}; there is on every command, op, optimizer, schedule, metric "
      "and error code, and on fit, data, metrics, optimizers, schedules, initializers, words and "
      "ops",
      name, near);
}

CommandResult helpCommand(const Options &options, Console &console) {
  if (options.pages)
    return writePages(*options.pages, options.existing());
  if (options.man) {
    console.write(manualPage());
  } else if (options.completion) {
    console.write(completionOf(*options.completion));
  } else if (options.operands.empty()) {
    console.write(overviewText());
  } else if (options.operands.size() > 1) {
    return fail(ErrorCode::E0001, "help takes one name, as in: lstmc help train");
  } else if (std::optional<CommandId> command = findCommand(options.operands[0])) {
    console.write(helpText(*command, options.all));
  } else {
    return helpOn(options, console);
  }
  return ExitCode::Ok;
}

CommandResult explainCommand(const Options &options, Console &console) {
  if (options.operands.size() != 1)
    return fail(ErrorCode::E0001, "explain takes one error code, as in: lstmc explain E0207");
  std::string code = options.operands[0];
  if (!code.empty() && code.find_first_not_of("0123456789") == code.npos) // the number alone
    code = fmt::format("E{:0>4}", code);
  if (code.starts_with('W'))
    code[0] = 'E'; // a warning is explained by the error of its number
  std::optional<ErrorRecord> record = findError(code);
  if (!record)
    return fail(ErrorCode::E0001, "there is no error code \"{}\"{}", options.operands[0],
                didYouMean(options.operands[0], errorNames()));
  if (console.json())
    console.print(nlohmann::ordered_json{{"schema", "lstmc.explain/1"},
                                         {"code", record->name},
                                         {"exit", int(record->exit)},
                                         {"title", record->title},
                                         {"text", explanation(*record)}});
  else
    console.print(fmt::format("{}: {} (exit {})\n\n{}", record->name, record->title,
                              int(record->exit), explanation(*record)));
  return ExitCode::Ok;
}

} // namespace lstmc::cli
