#include "frontend/cli/HelpPages.h"

#include <filesystem>

#include <fmt/ranges.h>

#include "executor/abi/Optimizers.h"
#include "executor/abi/Schedules.h"
#include "executor/data/DataSpec.h"
#include "executor/training/Metrics.h"
#include "frontend/cli/HelpTopics.h"
#include "frontend/symbol/Initialisers.h"

namespace lstmc::cli {

namespace {

/// A bar would end the cell of a Markdown table.
std::string inCell(std::string text) {
  for (size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
    text.insert(at, "\\");
  return text;
}

std::string flagsPage() {
  std::string text = "# Flags\n\nMade from `frontend/driver/request.def` and "
                     "`frontend/cli/options.def` by `lstmc help "
                     "--pages`.\n\n| flag | meaning | used by |\n| --- | --- | --- |\n";
  for (const FlagRecord &flag : flags()) {
    text += fmt::format("| `{}` | {} | {} |\n", inCell(flagSynopsis(flag)), inCell(helpOf(flag)),
                        flag.group == FlagGroup::Common ? "all but opt" : flag.commands);
  }
  return text;
}

/// "beta1 = 0.9, lower_bound = None"
std::string keysText(const Optimizer &row) {
  std::vector<std::string> texts;
  for (const OptimizerKey &key : row.keys)
    if (!key.name.empty())
      texts.push_back(fmt::format("`{}` = {}: {}", key.name,
                                  key.yesNo                  ? key.fallback != 0 ? "True" : "False"
                                  : key.fallback == kNoBound ? "None"
                                                             : fmt::format("{}", key.fallback),
                                  key.meaning));
  return fmt::format("{}", fmt::join(texts, "; "));
}

/// A formula with a statement a line.
std::string statements(std::string_view formula) {
  std::string text;
  for (char c : formula)
    text += c == ';' ? std::string("\n    ") : std::string(1, c);
  return text.empty() ? "" : "    " + text + "\n";
}

std::string optimizersPage() {
  std::string text =
      "# Optimizers\n\nMade from `executor/abi/Optimizers.def` by `lstmc help --pages`; "
      "`executor/abi/Optimizers.h` says what the names are. Keys of all: `learning_rate`";
  for (const OptimizerKey &key : kCommonOptimizerKeys)
    text += fmt::format("; `{}`: {}", key.name, key.meaning);
  text += ".\n";
  for (const Optimizer &row : kOptimizers) {
    text += fmt::format("\n## {}\n\n`learning_rate` = {}; {}\n", row.name, row.rate, keysText(row));
    if (!row.perUpdate.empty())
      text += fmt::format("\nOnce an update:\n\n{}", statements(row.perUpdate));
    for (const OptimizerForm &form : row.forms)
      if (!form.formula.empty())
        text += fmt::format("\nFor each element{}:\n\n{}{}",
                            form.when.empty() ? "" : fmt::format(", unless `{}` is 0", form.when),
                            statements(form.formula), statements(form.finish));
  }
  text += "\n# Schedules\n\nMade from `executor/abi/Schedules.def`.\n\n| name | in a file | "
          "arguments | "
          "rate |\n| --- | --- | --- | --- |\n";
  for (const ScheduleRow &row : kSchedules) {
    std::vector<std::string> arguments;
    for (const ScheduleArgument &argument : row.arguments)
      if (!argument.name.empty())
        arguments.push_back(argument.required
                                ? std::string(argument.name)
                                : fmt::format("{}={}", argument.name, argument.fallback));
    text += fmt::format("| `{}` | `{}` | {} | {} |\n", row.name, row.shown,
                        fmt::join(arguments, ", "), inCell(std::string(row.meaning)));
  }
  return text;
}

/// The address of the page of an error code.
std::string errorAddress(std::string_view code) { return fmt::format("errors/{}.md", code); }

std::string errorsPage() {
  std::string text = "# Error codes\n\nMade from `executor/base/ErrorTexts.def` by `lstmc help "
                     "--pages`; `lstmc explain CODE` prints one.\n\n| code | means | exit |\n"
                     "| --- | --- | --- |\n";
  for (std::string_view name : errorNames()) {
    ErrorRecord record = *findError(name);
    text += fmt::format("| [{}]({}) | {} | {} |\n", name, errorAddress(name),
                        inCell(std::string(record.title)), int(record.exit));
  }
  return text;
}

std::string errorPage(const ErrorRecord &record) {
  return fmt::format("# {}: {}\n\nExit {} ([command](../command.md), §7).\n\n{}\n", record.name,
                     record.title, int(record.exit), explanation(record));
}

std::string tableRow(std::string_view name, std::string_view meaning) {
  return fmt::format("| `{}` | {} |\n", inCell(std::string(name)), inCell(std::string(meaning)));
}

std::string fitTable() {
  std::string text = "## fit\n\n`fit(net, KEY=VALUE, ..)` in a file, `--fit KEY=VALUE` for the "
                     "command, `Network.fit(..)` in Python.\n\n| key | meaning |\n| --- | --- |\n";
#define LSTMC_FIT_KEY(KEY, MEANING) text += tableRow(KEY, MEANING);
#include "frontend/cli/help.def"
  for (const OptimizerKey &key : kCommonOptimizerKeys)
    text += tableRow(key.name, key.meaning);
  return text + "\nOptimizers, their own keys and formulas, and schedules: "
                "[optimizers](optimizers.md).\n";
}

std::string dataTables() {
  std::string text = "\n## data\n\n`data(net, train=\"SPEC\", KEY=VALUE, ..)` in a file, `--data "
                     "SPEC` for the command.\n\n| spec | fills |\n| --- | --- |\n";
  for (const data::DataKindRecord &kind : data::dataKinds())
    text += tableRow(kind.form, kind.meaning);
  text += "\n| key | meaning | of |\n| --- | --- | --- |\n";
  for (const data::DataKeyRecord &key : data::dataKeys())
    text += fmt::format("| `{}={}` | {} | {} |\n", key.name, inCell(std::string(key.value)),
                        inCell(std::string(key.meaning)), key.kinds);
  return text;
}

std::string metricsTable() {
  std::string text =
      "\n## Metrics\n\nFor `--metric`, `--expect` and `fit(eval_metric=..)`. Besides "
      "them `loss`: what training minimises ([language](language.md) §2).\n\n"
      "| name | meaning | formula | of |\n| --- | --- | --- | --- |\n";
  for (const training::MetricDescription &metric : training::metricDescriptions())
    text += fmt::format("| `{}`{} | {} | `{}` | {} |\n", metric.name,
                        metric.other.empty() ? "" : fmt::format(", `{}`", metric.other),
                        inCell(std::string(metric.meaning)), inCell(std::string(metric.formula)),
                        training::headsWith(metric.name));
  return text;
}

std::string initialisersTable() {
  std::string text = "\n## Initialisers\n\nFor `fit(initializer=..)` and `init=` of a Variable; "
                     "rules and defaults: [mxnet](mxnet.md) §6.\n\n| call | arguments |\n"
                     "| --- | --- |\n";
  for (const symbol::InitialiserRow &row : symbol::kInitialisers) {
    std::vector<std::string> names;
    for (std::string_view name : row.parameters)
      if (!name.empty())
        names.push_back(fmt::format("`{}`", name));
    text += tableRow(row.shown, fmt::format("{}", fmt::join(names, ", ")));
  }
  return text +
         "\nOr a number, a list of numbers, a function of the indices, an array beside the file: "
         "[language](language.md) §7.\n";
}

std::string fitPage() {
  return "# Keys of fit and data\n\nMade from the tables of the source by `lstmc help "
         "--pages`.\n\n" +
         fitTable() + dataTables() + metricsTable() + initialisersTable();
}

/// What a name is called here: "`num_hidden`", or a sentence.
std::string calledHere(std::string_view here, std::string_view help) {
  constexpr std::string_view kUsual = "here it is ";
  if (help.empty() || help.starts_with("did you mean"))
    return fmt::format("`{}`", here);
  if (help.starts_with(kUsual))
    help.remove_prefix(kUsual.size());
  return std::string(help);
}

std::string namesPage() {
  std::string text =
      "# Names from other frameworks\n\nMade from `frontend/names/Synonyms.def`, from which "
      "messages "
      "suggest names. Everything not listed that MXNet's `mx.sym` has keeps its name "
      "([operators](operators.md)).\n";
  auto heading = [&](std::string_view title) {
    text += fmt::format("\n## {}\n\n| there | here |\n| --- | --- |\n", title);
  };
#define SECTION(TITLE) heading(TITLE);
#define SYNONYM(KIND, WRITTEN, HERE, HELP) text += tableRow(WRITTEN, calledHere(HERE, HELP));
#define MODULE(NAME, SHORT, HELP) text += tableRow(NAME, HELP);
#include "frontend/names/Synonyms.def"
  return text;
}

} // namespace

CommandResult writePages(const std::string &folder, OutputFile::Existing existing) {
  std::error_code failure; // writing says it better
  std::filesystem::create_directories(folder + "/errors", failure);
  for (auto &[name, text] :
       {std::pair("flags.md", flagsPage()), std::pair("errors.md", errorsPage()),
        std::pair("optimizers.md", optimizersPage()), std::pair("fit.md", fitPage()),
        std::pair("names.md", namesPage())})
    LSTMC_CHECKED_TRY(writeFile(folder + "/" + name, text, existing));
  for (std::string_view name : errorNames())
    LSTMC_CHECKED_TRY(
        writeFile(folder + "/" + errorAddress(name), errorPage(*findError(name)), existing));
  return ExitCode::Ok;
}

} // namespace lstmc::cli
