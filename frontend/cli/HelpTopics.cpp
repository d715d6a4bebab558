#include "frontend/cli/HelpTopics.h"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "executor/abi/Optimizers.h"
#include "executor/abi/Schedules.h"
#include "executor/base/ErrorExamples.h"
#include "executor/base/LowerCase.h"
#include "executor/data/DataSpec.h"
#include "executor/training/Metrics.h"
#include "frontend/lnet/Load.h"
#include "frontend/lnet/Words.h"
#include "frontend/symbol/Initialisers.h"
#include "frontend/symbol/Symbol.h"

namespace lstmc::cli {

std::string folded(std::string_view first, std::string_view text, size_t indent) {
  std::string all(first);
  size_t column = all.size();
  bool begun = false;
  while (!text.empty()) {
    size_t end = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (begun && column + 1 + word.size() > kHelpColumns) {
      all += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (begun) {
      all += ' ';
      ++column;
    }
    all += word;
    column += word.size();
    begun = true;
  }
  return all + "\n";
}

std::string flagSynopsis(const FlagRecord &flag) {
  std::string text = flag.letter ? fmt::format("-{}, --{}", flag.letter, flag.name)
                                 : fmt::format("    --{}", flag.name);
  return flag.argument.empty() ? text : fmt::format("{} {}", text, flag.argument);
}

std::string helpOf(const FlagRecord &flag) {
  return flag.fallback.empty() ? std::string(flag.help)
                               : fmt::format("{} (default: {})", flag.help, flag.fallback);
}

std::string explanation(const ErrorRecord &record) {
  std::string_view example = errorExample(record.code);
  return fmt::format("{}{}{}", record.text, example.empty() ? "" : "\n\n", example);
}

namespace {

/// A row of a list: a name and what it is.
std::string row(std::string_view name, std::string_view meaning, size_t width = 20) {
  return folded(fmt::format("  {:<{}} ", name, width - 3), meaning, width);
}

std::string valueText(double value) {
  return value == kNoBound ? "None" : fmt::format("{}", value);
}

std::string keyText(const OptimizerKey &key) {
  return row(
      fmt::format("{} = {}", key.name,
                  key.yesNo ? (key.fallback != 0 ? "True" : "False") : valueText(key.fallback)),
      key.meaning, 32);
}

std::string optimizerText(const Optimizer &optimizer) {
  std::string text =
      fmt::format("{}: an optimizer\n\n    fit(net, optimizer=\"{}\", learning_rate={})\n\n",
                  optimizer.name, optimizer.name, optimizer.rate);
  for (const OptimizerKey &key : optimizer.keys)
    if (!key.name.empty())
      text += keyText(key);
  for (const OptimizerKey &key : kCommonOptimizerKeys)
    text += row(std::string(key.name), key.meaning, 32);
  auto formula = [&](std::string_view title, std::string_view statements) {
    if (statements.empty())
      return;
    text += fmt::format("\n{}:\n\n   ", title);
    for (char c : statements)
      text += c == ';' ? std::string("\n   ") : std::string(1, c);
    text += "\n";
  };
  formula("once an update, t updates so far", optimizer.perUpdate);
  for (const OptimizerForm &form : optimizer.forms) {
    formula(form.when.empty() ? "for each element w with gradient g"
                              : fmt::format("for each element, unless {} is 0", form.when),
            form.formula);
    formula("and, with norms of the whole parameter", form.finish);
  }
  return text;
}

std::string optimizersText() {
  std::string text = "Optimizers, for fit(optimizer=..) and --optimizer; `lstmc help NAME` has "
                     "keys and formula:\n\n";
  for (const Optimizer &optimizer : kOptimizers) {
    std::vector<std::string_view> keys;
    for (const OptimizerKey &key : optimizer.keys)
      if (!key.name.empty())
        keys.push_back(key.name);
    text += row(optimizer.name, fmt::format("learning_rate {}{}{}", optimizer.rate,
                                            keys.empty() ? "" : ", ", fmt::join(keys, ", ")));
  }
  return text;
}

std::string scheduleText(const ScheduleRow &schedule) {
  std::vector<std::string> arguments;
  for (const ScheduleArgument &argument : schedule.arguments)
    if (!argument.name.empty())
      arguments.push_back(argument.required
                              ? std::string(argument.name)
                              : fmt::format("{}={}", argument.name, argument.fallback));
  return folded("    ",
                fmt::format("lr_scheduler={}({})", schedule.shown, fmt::join(arguments, ", ")), 8) +
         folded("  ", schedule.meaning, 2);
}

std::string schedulesText() {
  std::string text =
      "Schedules of the learning rate; n counts updates from 1, base is learning_rate:\n";
  for (const ScheduleRow &schedule : kSchedules)
    text += "\n" + scheduleText(schedule);
  text += "\nAll take warmup_steps=0, warmup_begin_lr=0, warmup_mode=\"linear\" or \"constant\".\n";
  return text;
}

std::string metricsText() {
  std::string text = "Metrics, for --metric, --expect and fit(eval_metric=..):\n\n" +
                     row("loss", "what training minimises");
  for (const training::MetricDescription &metric : training::metricDescriptions())
    text += row(metric.name,
                fmt::format("{}{} · of {}", metric.meaning,
                            metric.other.empty() ? "" : fmt::format(" (also {})", metric.other),
                            training::headsWith(metric.name)));
  return text;
}

std::string initialisersText() {
  std::string text = "Initialisers, for fit(initializer=..) and init= of a Variable:\n\n";
  for (const symbol::InitialiserRow &initialiser : symbol::kInitialisers) {
    std::vector<std::string_view> parameters;
    for (std::string_view name : initialiser.parameters)
      if (!name.empty())
        parameters.push_back(name);
    text += fmt::format("  {}({})\n", initialiser.shown, fmt::join(parameters, ", "));
  }
  return text +
         "\nor a number, a list of numbers, a function of the indices, or \"@w.npy\", an array "
         "beside the file.\n";
}

std::string fitText() {
  std::string text =
      "fit(net, KEY=VALUE, ..) in a file, or --fit KEY=VALUE: how a network is trained\n\n";
#define LSTMC_FIT_KEY(KEY, MEANING) text += row(KEY, MEANING, 24);
#include "frontend/cli/help.def"
  for (const OptimizerKey &key : kCommonOptimizerKeys)
    text += row(key.name, key.meaning, 24);
  std::vector<std::string> others;
  for (const Optimizer &optimizer : kOptimizers)
    for (const OptimizerKey &key : optimizer.keys)
      if (!key.name.empty() && std::ranges::find(others, key.name) == others.end())
        others.emplace_back(key.name);
  return text + row("of some optimizers", fmt::format("{}", fmt::join(others, ", ")), 24);
}

std::string dataText() {
  std::string text = "--data SPEC, or data(net, train=\"SPEC\", KEY=VALUE, ..) in a file:\n\n";
  for (const data::DataKindRecord &kind : data::dataKinds())
    text += row(kind.form, kind.meaning, 32);
  text += "\nkeys, as in csv:F.csv,target=price,window=24:\n\n";
  for (const data::DataKeyRecord &key : data::dataKeys())
    text += row(fmt::format("{}={}", key.name, key.value),
                fmt::format("{} · of {}", key.meaning, key.kinds), 32);
  return text;
}

/// "data, weight=None, num_hidden, no_bias=False"
std::string signatureText(const symbol::OpSignature &op) {
  std::vector<std::string> parts;
  if (op.variadic)
    parts.push_back("*data");
  for (const symbol::OpInput &input : op.inputs)
    parts.push_back(input.name + (input.optional || input.parameter || input.label ? "=None" : ""));
  for (const symbol::OpAttribute &attribute : op.attributes) {
    bool word = (attribute.kind == symbol::OpAttribute::Kind::String ||
                 attribute.kind == symbol::OpAttribute::Kind::Choice ||
                 attribute.kind == symbol::OpAttribute::Kind::DType) &&
                attribute.defaultText != "None" && !attribute.defaultText.starts_with('"');
    if (attribute.name == op.countAttribute)
      continue;
    parts.push_back(attribute.required ? attribute.name
                    : word ? fmt::format("{}=\"{}\"", attribute.name, attribute.defaultText)
                           : fmt::format("{}={}", attribute.name, attribute.defaultText));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string opText(const symbol::OpSignature &op) {
  std::string head = op.name + "(";
  std::string text = folded(head, signatureText(op) + ", name=None)", head.size()) + "\n" +
                     folded("  ", op.summary, 2);
  if (!op.aliases.empty())
    text += folded("  ", fmt::format("also called {}", fmt::join(op.aliases, ", ")), 2);
  text += "\n";
  for (const symbol::OpInput &input : op.inputs)
    text += row(input.name,
                input.parameter  ? "a tensor; left out, a parameter of that name is made"
                : input.label    ? "a tensor; left out, an input of that name is made"
                : input.optional ? "a tensor, or left out"
                                 : "a tensor",
                24);
  for (const symbol::OpAttribute &attribute : op.attributes)
    if (attribute.name != op.countAttribute)
      text += row(
          attribute.name,
          fmt::format("{}{}{}{}", wantedText(attribute), attribute.nullable ? " or None" : "",
                      attribute.required ? ", required" : "",
                      attribute.aliases.empty()
                          ? ""
                          : fmt::format("; also called {}", fmt::join(attribute.aliases, ", "))),
          24);
  return text;
}

/// A function of layers.lnet: the comment before it and its first lines up to the colon.
std::optional<std::string> layerText(std::string_view name) {
  std::string_view all = lnet::layersText();
  size_t at = all.find(fmt::format("\ndef {}(", name));
  if (at == all.npos || name.starts_with('_'))
    return std::nullopt;
  size_t end = all.find("):\n", at);
  std::string signature;
  for (char c : all.substr(at + 5, end + 1 - (at + 5)))
    if (c != '\n' && !(c == ' ' && signature.ends_with(' ')))
      signature += c;
    else if (!signature.ends_with(' '))
      signature += ' ';
  size_t begin = at; // of the comment
  while (begin > 0) {
    size_t line = all.rfind('\n', begin - 1);
    line = line == all.npos ? 0 : line + 1;
    if (line >= begin || all[line] != '#')
      break;
    begin = line > 0 ? line - 1 : 0;
  }
  std::string comment;
  for (char c : all.substr(begin, at - begin))
    if (c != '#' && !(c == '\n' && comment.empty()))
      comment += c == '\n' ? ' ' : c;
  size_t open = signature.find('(');
  std::string text = folded(signature.substr(0, open + 1), signature.substr(open + 1), open + 1);
  while (comment.starts_with(' '))
    comment.erase(0, 1);
  if (!comment.empty())
    text += "\n" + folded("  ", comment, 2);
  return text +
         "\n  A layer of the language; its parameters are Variables that begin with its name.\n";
}

std::string opsText() {
  std::vector<std::string_view> names;
  for (const symbol::OpSignature &op : symbol::allOps())
    names.push_back(op.name);
  return "Operators; `lstmc help NAME` says what one takes. The layers are LSTM, GRU and "
         "RNNLayer.\n\n" +
         folded("  ", fmt::format("{}", fmt::join(names, " ")), 2);
}

std::string wordText(const lnet::Word &word) {
  std::string text = fmt::format("{}\n\n{}\n", word.form, folded("  ", word.meaning, 2));
  for (std::string_view rest = word.example; !rest.empty();) {
    const size_t end = rest.find('\n');
    text += end == 0 ? "\n" : fmt::format("    {}\n", rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  return text;
}

std::string wordsText() {
  std::string text = "Words of the language; `lstmc help WORD` has an example:\n\n";
  for (const lnet::Word &word : lnet::kWords)
    text += row(word.name, word.form);
  return text;
}

/// Keys of fit(..) and data(..) of that name, as their lists have them; empty if there is none.
std::string keysText(std::string_view name) {
  std::string text;
#define LSTMC_FIT_KEY(KEY, MEANING)                                                                \
  if (name == KEY)                                                                                 \
    text += row(fmt::format("fit(net, {}=..)", KEY), MEANING, 32);
#include "frontend/cli/help.def"
  for (const OptimizerKey &key : kCommonOptimizerKeys)
    if (name == key.name)
      text += row(fmt::format("fit(net, {}=..)", key.name), key.meaning, 32);
  for (const data::DataKeyRecord &key : data::dataKeys())
    if (name == key.name)
      text += row(fmt::format("data(net, {}={})", key.name, key.value),
                  fmt::format("{} · of {}", key.meaning, key.kinds), 32);
  return text;
}

struct Topic {
  std::string_view name;
  std::string (*text)();
};
constexpr Topic kTopics[] = {{"fit", fitText},
                             {"data", dataText},
                             {"metrics", metricsText},
                             {"optimizers", optimizersText},
                             {"schedules", schedulesText},
                             {"initializers", initialisersText},
                             {"ops", opsText},
                             {"words", wordsText}};

constexpr std::string_view kLayers[] = {"LSTM", "GRU", "RNNLayer"};

} // namespace

std::optional<std::string> topicText(std::string_view name) {
  for (const Topic &topic : kTopics)
    if (topic.name == name)
      return topic.text();
  for (const lnet::Word &word : lnet::kWords)
    if (word.name == name)
      return wordText(word);
  if (const Optimizer *optimizer = findOptimizer(lowerCase(std::string(name))))
    return optimizerText(*optimizer);
  if (const ScheduleRow *schedule = findSchedule(name))
    return scheduleText(*schedule);
  for (const training::MetricDescription &metric : training::metricDescriptions())
    if (metric.name == name || (!metric.other.empty() && metric.other == name))
      return fmt::format("{}: a metric of {}\n\n{}\n{}", metric.name,
                         training::headsWith(metric.name), folded("  ", metric.meaning, 2),
                         folded("    ", metric.formula, 4));
  for (const symbol::InitialiserRow &initialiser : symbol::kInitialisers)
    if (initialiser.shown == name)
      return initialisersText();
  if (std::optional<std::string> layer = layerText(name))
    return layer;
  if (const symbol::OpSignature *op = symbol::findOp(name))
    return opText(*op);
  if (std::string keys = keysText(name); !keys.empty())
    return keys;
  for (const std::string &other : topicNames()) // as in `help lstm`
    if (other != name && lowerCase(other) == lowerCase(std::string(name)))
      return topicText(other);
  return std::nullopt;
}

std::vector<std::string> topicNames() {
  std::vector<std::string> names;
  for (const Topic &topic : kTopics)
    names.emplace_back(topic.name);
  for (const Optimizer &optimizer : kOptimizers)
    names.emplace_back(optimizer.name);
  for (const ScheduleRow &schedule : kSchedules)
    names.emplace_back(schedule.shown);
  for (const training::MetricDescription &metric : training::metricDescriptions())
    names.emplace_back(metric.name);
  for (const symbol::InitialiserRow &initialiser : symbol::kInitialisers)
    names.emplace_back(initialiser.shown);
  names.insert(names.end(), std::begin(kLayers), std::end(kLayers));
  for (const lnet::Word &word : lnet::kWords)
    names.emplace_back(word.name);
  for (const symbol::OpSignature &op : symbol::allOps())
    names.push_back(op.name);
  return names;
}

} // namespace lstmc::cli
