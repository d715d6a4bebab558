#include "executor/run/Arguments.h"

#include <string_view>

#include <fmt/format.h>

#include "executor/base/ParseNumber.h"

namespace lstmc::run {
namespace {

struct FlagRecord {
  std::string_view name;
  char letter; ///< 0: none
  std::string_view argument, help;
};

constexpr FlagRecord kFlags[] = {
#define LSTMC_RUN_FLAG(FIELD, LETTER, NAME, ARGUMENT, HELP) {NAME, LETTER, ARGUMENT, HELP},
#include "executor/run/flags.def"
};

constexpr int kMaxThreads = 1024;

// `take` sets a field of each type. A switch has no text.

Status take(bool &field, std::string_view, const std::string &) {
  field = true;
  return {};
}
Status take(std::string &field, std::string_view, const std::string &text) {
  field = text;
  return {};
}
Status take(std::vector<std::string> &field, std::string_view, const std::string &text) {
  field.push_back(text);
  return {};
}
template <typename T> Status takeNumber(T &field, std::string_view flag, const std::string &text) {
  std::optional<T> number = parseNumber<T>(text);
  if (!number)
    return fail(ErrorCode::E0001, "{}: found \"{}\", want a number", flag, text);
  field = *number;
  return {};
}
Status take(uint64_t &field, std::string_view flag, const std::string &text) {
  return takeNumber(field, flag, text);
}
Status take(int &field, std::string_view flag, const std::string &text) {
  LSTMC_TRY(takeNumber(field, flag, text));
  if (field < 0 || field > kMaxThreads)
    return fail(ErrorCode::E0001, "{}: found {}, want 1 to {}", flag, field, kMaxThreads);
  return {};
}
Status take(std::optional<Shell> &field, std::string_view flag, const std::string &text) {
  for (Shell shell : {Shell::Bash, Shell::Zsh, Shell::Fish})
    if (text == nameOf(shell))
      field = shell;
  if (!field)
    return fail(ErrorCode::E0001, "{}: found \"{}\", want one of {}", flag, text, kShellNames);
  return {};
}

bool isFlag(const std::string &word, char letter, std::string_view name) {
  return (letter && word == std::string{'-', letter}) ||
         (word.starts_with("--") && word.substr(2) == name);
}

/// The words that are left, each once.
class Words {
public:
  Words(int count, char **words) : left_(words + 1, words + count) {}

  bool none() const { return at_ == left_.size(); }
  std::string next() { return left_[at_++]; }
  Result<std::string> valueOf(const std::string &flag) {
    if (none())
      return fail(ErrorCode::E0001, "{} needs a value", flag);
    return next();
  }

private:
  std::vector<std::string> left_;
  size_t at_ = 0;
};

/// Takes a word, and its value of the form --flag=value or in the next word.
Status takeWord(Arguments &arguments, std::string word, Words &words) {
  std::optional<std::string> attached;
  if (size_t equals = word.find('='); word.starts_with("--") && equals != std::string::npos) {
    attached = word.substr(equals + 1);
    word.resize(equals);
  }
#define LSTMC_RUN_FLAG(FIELD, LETTER, NAME, ARGUMENT, HELP)                                        \
  if (isFlag(word, LETTER, NAME)) {                                                                \
    std::string text;                                                                              \
    if (attached)                                                                                  \
      text = *attached;                                                                            \
    else if (*ARGUMENT) {                                                                          \
      LSTMC_ASSIGN(text, words.valueOf(word));                                                     \
    }                                                                                              \
    return take(arguments.FIELD, word, text);                                                      \
  }
#include "executor/run/flags.def"
  if (word.starts_with('-') || !arguments.model.empty())
    return fail(ErrorCode::E0001, "\"{}\": found a flag or operand that lstmc-run does not have",
                word);
  arguments.model = word;
  return {};
}

} // namespace

Result<Arguments> parseArguments(int count, char **words) {
  Arguments arguments;
  for (Words left(count, words); !left.none();)
    LSTMC_TRY(takeWord(arguments, left.next(), left));
  if (!arguments.help && !arguments.completion && arguments.model.empty())
    return fail(ErrorCode::E0001, "found no MODEL, want a package or a checkpoint folder");
  return arguments;
}

std::string helpText() {
  std::string text = "usage: lstmc-run MODEL -i NAME=VALUE ... [options]\n"
                     "\n"
                     "Runs a package (F.lstmc) or a checkpoint folder once on given inputs.\n"
                     "\n";
  for (const FlagRecord &flag : kFlags) {
    std::string letter = flag.letter ? fmt::format("-{}, ", flag.letter) : "    ";
    text += fmt::format("  {:<25}{}\n", fmt::format("{}--{} {}", letter, flag.name, flag.argument),
                        flag.help);
  }
  return text;
}

std::string completionOf(Shell shell) {
  CompletedProgram program{"lstmc-run", {}, {}};
  for (const FlagRecord &flag : kFlags) {
    CompletedFlag &completed = program.flags.emplace_back(CompletedFlag{
        std::string(flag.name), flag.letter, !flag.argument.empty(), std::string(flag.help), {}});
    if (flag.argument == "SHELL")
      completed.values = {"bash", "zsh", "fish"};
    else if (flag.name == "entry")
      completed.values = {"forward", "evaluate", "step"};
  }
  return completionScript(shell, program);
}

} // namespace lstmc::run
