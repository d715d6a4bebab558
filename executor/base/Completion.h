// The scripts by which shells complete a program's words, from the program's own tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lstmc {

enum class Shell { Bash, Zsh, Fish };
inline constexpr std::string_view kShellNames = "bash|zsh|fish"; ///< in that order
std::string_view nameOf(Shell shell);

struct CompletedCommand {
  std::string name, help;
  std::vector<std::string> operands; ///< all that there are; empty: files
};

struct CompletedFlag {
  std::string name;
  char letter = 0; ///< 0: none
  bool takesValue = false;
  std::string help;
  std::vector<std::string>
      commands; ///< that have the flag; empty where the program has no commands
  /// All values, where they are known; those that end in '=' go on after it.
  std::vector<std::string> values = {};
  /// Else a command of sh and of fish that prints them, one a line. It runs for each .lnet file of
  /// the line where it says "$file".
  std::string source = {};
};

struct CompletedProgram {
  std::string name;
  std::vector<CompletedCommand> commands; ///< none: flags and files only
  std::vector<CompletedFlag> flags;
};

std::string completionScript(Shell shell, const CompletedProgram &program);

} // namespace lstmc
