#include "frontend/cli/Completion.h"

#include <algorithm>

#include "executor/session/UpdateScalars.h"
#include "executor/training/Metrics.h"
#include "frontend/cli/HelpTopics.h"
#include "frontend/cli/Options.h"
#include "frontend/lnet/Load.h"

namespace lstmc::cli {
namespace {

template <typename List> std::vector<std::string> strings(const List &list) {
  return {list.begin(), list.end()};
}

/// Where the table does not have them: the names that a flag's value may be.
std::vector<std::string> namesFor(Flag flag) {
  switch (flag) {
  case Flag::optimizer:
    return strings(session::optimizerNames());
  case Flag::metric:
    return strings(training::metricNames());
  case Flag::kvStore:
    return {"auto", "local", "device", "dist_sync", "dist_device_sync", "dist_async"};
  case Flag::entry:
    return {"forward", "evaluate", "step"};
  case Flag::fit: {
    std::vector<std::string> keys = strings(lnet::fitKeys());
    for (std::string &key : keys)
      key += '=';
    return keys;
  }
  default:
    return {};
  }
}

/// The command that says what is here, or in the file of the line.
std::string sourceFor(Flag flag) {
  if (flag == Flag::devices)
    return "lstmc devices 2>/dev/null | awk '/^[a-z]+:[0-9]/{print $1}'";
  if (flag == Flag::set)
    return "lstmc compile \"$file\" --dump-config 2>/dev/null | sed -n '/^set = "
           "/s/[^\"]*\"\\([^=\"]*=\\)[^\"]*\"[^\"]*/\\1 /gp' | tr ' ' '\\n' | grep .";
  return "";
}

CompletedFlag completed(const FlagRecord &record) {
  CompletedFlag flag{
      std::string(record.name), record.letter, !record.argument.empty(), helpOf(record), {}};
  for (const CommandRecord &command : commands())
    if (record.servedBy(command.id))
      flag.commands.emplace_back(command.name);
  if (record.spelling)
    return flag;
  flag.values = record.choices.empty() ? namesFor(record.flag) : strings(wordsIn(record.choices));
  flag.source = sourceFor(record.flag);
  return flag;
}

/// All that an operand of the command may be, where it is no file.
std::vector<std::string> operandsOf(CommandId command) {
  if (command == CommandId::Explain)
    return strings(errorNames());
  if (command != CommandId::Help)
    return {};
  std::vector<std::string> topics = topicNames();
  for (const CommandRecord &known : commands())
    topics.emplace_back(known.name);
  return topics;
}

} // namespace

std::string completionOf(Shell shell) {
  CompletedProgram program{"lstmc", {}, {}};
  for (const CommandRecord &command : commands())
    program.commands.push_back(
        {std::string(command.name), std::string(command.line), operandsOf(command.id)});
  for (const FlagRecord &record : flags())
    program.flags.push_back(completed(record));
  return completionScript(shell, program);
}

} // namespace lstmc::cli
