#include "executor/base/Completion.h"

#include <algorithm>

#include <fmt/ranges.h>

namespace lstmc {
namespace {

/// "lstmc-run" -> "_lstmc_run"
std::string functionName(const CompletedProgram &program) {
  std::string name = "_" + program.name;
  std::ranges::replace(name, '-', '_');
  return name;
}

/// In single quotes. In those of fish a backslash may stand for another.
std::string quoted(std::string_view text, Shell shell) {
  std::string result = "'";
  for (char c : text)
    if (c == '\'')
      result += shell == Shell::Fish ? "\\'" : "'\\''";
    else if (c == '\\' && shell == Shell::Fish)
      result += "\\\\";
    else
      result += c;
  return result + "'";
}

bool perFile(const CompletedFlag &flag) { return flag.source.find("$file") != std::string::npos; }
bool goesOn(const CompletedFlag &flag) {
  return perFile(flag) || (!flag.values.empty() && flag.values[0].ends_with('='));
}

/// The flags of a command, or all of a program that has no commands.
std::vector<const CompletedFlag *> flagsOf(const CompletedProgram &program,
                                           const std::string &command) {
  std::vector<const CompletedFlag *> found;
  for (const CompletedFlag &flag : program.flags)
    if (program.commands.empty() || std::ranges::count(flag.commands, command))
      found.push_back(&flag);
  return found;
}

/// "-d|--devices)"
std::string pattern(const CompletedFlag &flag) {
  return flag.letter ? fmt::format("-{}|--{})", flag.letter, flag.name)
                     : fmt::format("--{})", flag.name);
}

// ---- bash ----

std::string bashValues(const CompletedFlag &flag) {
  std::string words = flag.source.empty() ? fmt::format("{}", fmt::join(flag.values, " "))
                                          : fmt::format("$({})", flag.source);
  std::string offer = fmt::format("COMPREPLY+=($(compgen -W \"{}\" -- \"$word\"))", words);
  if (perFile(flag))
    offer = fmt::format("for file in \"${{COMP_WORDS[@]}}\"; do case $file in *.lnet) {} ;; esac; "
                        "done",
                        offer);
  return fmt::format("    {} {}; {}return ;;\n", pattern(flag), offer,
                     goesOn(flag) ? "compopt -o nospace; " : "");
}

std::string bashFlags(const CompletedProgram &program, const std::string &command) {
  std::string words;
  for (const CompletedFlag *flag : flagsOf(program, command)) {
    words += fmt::format("--{} ", flag->name);
    if (flag->letter)
      words += fmt::format("-{} ", flag->letter);
  }
  return words;
}

std::string bashScript(const CompletedProgram &program) {
  std::string values, flags, operands, names;
  for (const CompletedFlag &flag : program.flags)
    if (!flag.values.empty() || !flag.source.empty())
      values += bashValues(flag);
  for (const CompletedCommand &command : program.commands) {
    names += command.name + " ";
    flags +=
        fmt::format("    {}) words=\"{}\" ;;\n", command.name, bashFlags(program, command.name));
    if (!command.operands.empty())
      operands += fmt::format("    *,{}) COMPREPLY=($(compgen -W \"{}\" -- \"$word\")) ;;\n",
                              command.name, fmt::join(command.operands, " "));
  }
  std::string first;
  if (program.commands.empty())
    flags = fmt::format("    *) words=\"{}\" ;;\n", bashFlags(program, ""));
  else
    first = fmt::format("  if [ $COMP_CWORD -eq 1 ]; then\n"
                        "    COMPREPLY=($(compgen -W \"{}--version\" -- \"$word\"))\n"
                        "    return\n  fi\n",
                        names);
  const std::string function = functionName(program);
  return fmt::format("{}() {{\n"
                     "  local word=${{COMP_WORDS[COMP_CWORD]}} words=\"\" file\n"
                     "  COMPREPLY=()\n{}"
                     "  case ${{COMP_WORDS[COMP_CWORD-1]}} in\n{}  esac\n"
                     "  case ${{COMP_WORDS[1]}} in\n{}  esac\n"
                     "  case $word,${{COMP_WORDS[1]}} in\n"
                     "    -*,*) COMPREPLY=($(compgen -W \"$words\" -- \"$word\")) ;;\n{}"
                     "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
                     "  esac\n}}\ncomplete -F {} {}\n",
                     function, first, values, flags, operands, function, program.name);
}

// ---- zsh ----

/// 'name:help', as _describe takes it.
std::string described(std::string_view name, std::string_view help) {
  return quoted(fmt::format("{}:{}", name, help), Shell::Zsh);
}

std::string zshFlags(const CompletedProgram &program, const std::string &command) {
  std::string names;
  for (const CompletedFlag *flag : flagsOf(program, command)) {
    names += described("--" + flag->name, flag->help) + " ";
    if (flag->letter)
      names += described(fmt::format("-{}", flag->letter), flag->help) + " ";
  }
  return names;
}

std::string zshValues(const CompletedFlag &flag) {
  std::string words = flag.source.empty() ? fmt::format("{}", fmt::join(flag.values, " "))
                                          : fmt::format("${{(f)\"$({})\"}}", flag.source);
  std::string fill = fmt::format("names+=({})", words);
  if (perFile(flag))
    fill = fmt::format("for file in $words; do [[ $file == *.lnet ]] && {}; done", fill);
  return fmt::format("    {} {}; compadd {}-a names; return ;;\n", pattern(flag), fill,
                     goesOn(flag) ? "-S '' " : "");
}

std::string zshScript(const CompletedProgram &program) {
  std::string values, flags, operands, commands;
  for (const CompletedFlag &flag : program.flags)
    if (!flag.values.empty() || !flag.source.empty())
      values += zshValues(flag);
  for (const CompletedCommand &command : program.commands) {
    commands += described(command.name, command.help) + " ";
    flags += fmt::format("    {}) names=({}) ;;\n", command.name, zshFlags(program, command.name));
    if (!command.operands.empty())
      operands += fmt::format("    *,{}) compadd -- {} ;;\n", command.name,
                              fmt::join(command.operands, " "));
  }
  std::string first;
  if (program.commands.empty())
    flags = fmt::format("    *) names=({}) ;;\n", zshFlags(program, ""));
  else
    first = fmt::format("  if (( CURRENT == 2 )); then\n    names=({}'--version:the version')\n"
                        "    _describe command names\n    return\n  fi\n",
                        commands);
  const std::string function = functionName(program);
  return fmt::format("#compdef {0}\n{1}() {{\n"
                     "  local word=$words[CURRENT] file\n  local -a names\n{2}"
                     "  case $words[CURRENT-1] in\n{3}  esac\n"
                     "  case $words[2] in\n{4}  esac\n"
                     "  case $word,$words[2] in\n    -*,*) _describe -o flag names ;;\n{5}"
                     "    *) _files ;;\n  esac\n}}\n"
                     // Read by the completion system, or by a user's `source`.
                     "if [[ $funcstack[1] == {1} ]]; then {1} \"$@\"; else compdef {1} {0}; fi\n",
                     program.name, function, first, values, flags, operands);
}

// ---- fish ----

std::string fishFlag(const CompletedProgram &program, const CompletedFlag &flag) {
  std::string line = "complete -c " + program.name;
  if (!flag.commands.empty())
    line += fmt::format(" -n '__fish_seen_subcommand_from {}'", fmt::join(flag.commands, " "));
  line += " -l " + flag.name;
  if (flag.letter)
    line += fmt::format(" -s {}", flag.letter);
  if (!flag.values.empty())
    line += fmt::format(" -x -a '{}'", fmt::join(flag.values, " "));
  else if (perFile(flag))
    line += " -x -a " + quoted(fmt::format("(for file in (commandline -opc); string match -q -- "
                                           "'*.lnet' $file; and {}; end)",
                                           flag.source),
                               Shell::Fish);
  else if (!flag.source.empty())
    line += " -x -a " + quoted(fmt::format("({})", flag.source), Shell::Fish);
  else if (flag.takesValue)
    line += " -r";
  return line + " -d " + quoted(flag.help, Shell::Fish) + "\n";
}

std::string fishScript(const CompletedProgram &program) {
  const std::string none = "test (count (commandline -opc)) -eq 1";
  std::string script;
  for (const CompletedCommand &command : program.commands) {
    script += fmt::format("complete -c {} -n '{}' -f -a {} -d {}\n", program.name, none,
                          command.name, quoted(command.help, Shell::Fish));
    if (!command.operands.empty())
      script += fmt::format("complete -c {} -n '__fish_seen_subcommand_from {}' -f -a '{}'\n",
                            program.name, command.name, fmt::join(command.operands, " "));
  }
  if (!program.commands.empty())
    script += fmt::format("complete -c {} -n '{}' -f -l version\n", program.name, none);
  for (const CompletedFlag &flag : program.flags)
    script += fishFlag(program, flag);
  return script;
}

} // namespace

std::string_view nameOf(Shell shell) {
  constexpr std::string_view kNames[] = {"bash", "zsh", "fish"};
  return kNames[size_t(shell)];
}

std::string completionScript(Shell shell, const CompletedProgram &program) {
  switch (shell) {
  case Shell::Bash:
    return bashScript(program);
  case Shell::Zsh:
    return zshScript(program);
  case Shell::Fish:
    return fishScript(program);
  }
  return "";
}

} // namespace lstmc
