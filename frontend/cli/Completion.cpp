#include "frontend/cli/Completion.h"

#include <array>

#include <fmt/ranges.h>

#include "executor/training/FitSettings.h"
#include "executor/training/Metrics.h"
#include "frontend/cli/HelpTopics.h"
#include "frontend/cli/Options.h"
#include "frontend/lnet/Load.h"

namespace lstmc::cli {

std::string bashCompletion() {
  std::string names, cases;
  for (const CommandRecord &command : commands()) {
    names += fmt::format("{} ", command.name);
    std::string words;
    for (const FlagRecord &flag : flags())
      if (flag.servedBy(command.id)) {
        words += fmt::format("--{} ", flag.name);
        if (flag.letter)
          words += fmt::format("-{} ", flag.letter);
      }
    cases += fmt::format("    {}) words=\"{}\" ;;\n", command.name, words);
  }
  std::string choices;
  auto offer = [&](std::string_view flag, const auto &values) {
    choices += fmt::format("    --{}) COMPREPLY=($(compgen -W \"{}\" -- \"$word\")); return ;;\n",
                           flag, fmt::join(values, " "));
  };
  for (const FlagRecord &flag : flags())
    if (!flag.choices.empty())
      offer(flag.name, wordsIn(flag.choices));
  offer("optimizer", training::optimizerNames());
  offer("metric", training::metricNames());
  offer("kv-store",
        std::array{"auto", "local", "device", "dist_sync", "dist_device_sync", "dist_async"});
  offer("entry", std::array{"forward", "evaluate", "step"});
  choices += fmt::format(
      "    --fit) COMPREPLY=($(compgen -S = -W \"{}\" -- \"$word\")); compopt -o nospace; "
      "return ;;\n",
      fmt::join(lnet::fitKeys(), " "));
  std::vector<std::string> topics = topicNames();
  for (const CommandRecord &command : commands())
    topics.emplace_back(command.name);
  return fmt::format(
      "_lstmc() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} words=\"\"\n"
      "  if [ $COMP_CWORD -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"{}--version\" -- \"$word\"))\n    return\n  fi\n"
      "  case ${{COMP_WORDS[COMP_CWORD-1]}} in\n"
      "    -d|--devices) COMPREPLY=($(compgen -W \"$(lstmc devices 2>/dev/null | awk "
      "'/^[a-z]+:[0-9]/{{print $1}}')\" -- \"$word\")); return ;;\n"
      "    --set) local file; for file in \"${{COMP_WORDS[@]}}\"; do case $file in *.lnet)\n"
      "        COMPREPLY=($(compgen -S = -W \"$(lstmc compile \"$file\" --dump-config 2>/dev/null "
      "| sed -n '/^set = /s/[^\"]*\"\\([^=\"]*\\)=[^\"]*\"[^\"]*/\\1 /gp')\" -- \"$word\")) ;;\n"
      "      esac; done; compopt -o nospace; return ;;\n"
      "{}"
      "  esac\n"
      "  case ${{COMP_WORDS[1]}} in\n{}  esac\n"
      "  case $word,${{COMP_WORDS[1]}} in\n"
      "    -*,*) COMPREPLY=($(compgen -W \"$words\" -- \"$word\")) ;;\n"
      "    *,help) COMPREPLY=($(compgen -W \"{}\" -- \"$word\")) ;;\n"
      "    *,explain) COMPREPLY=($(compgen -W \"{}\" -- \"$word\")) ;;\n"
      "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
      "  esac\n}}\ncomplete -F _lstmc lstmc\n",
      names, choices, cases, fmt::join(topics, " "), fmt::join(errorNames(), " "));
}

} // namespace lstmc::cli
