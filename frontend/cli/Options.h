// The command line, parsed by the one table in options.def.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/base/Status.h"

namespace lstmc::cli {

struct CommandRecord {
  std::string_view name, synopsis, line;
};
struct FlagRecord {
  std::string_view name;
  char letter; ///< 0: none
  std::string_view argument; ///< empty: a switch
  bool repeats;
  std::string_view help;
  std::string_view commands;

  bool servedBy(std::string_view command) const;
};

const std::vector<CommandRecord> &commands();
const std::vector<FlagRecord> &flags();

/// Where a value in force comes from; the earlier beats the later.
enum class ValueOrigin { Flag, Environment, Config, BuiltIn };

/// The flags of one call.
class Options {
public:
  std::string command;
  std::vector<std::string> operands; ///< MODEL, FILE...
  std::vector<std::string> rest;     ///< of `opt`: passes and their options, handed on as they are

  bool has(std::string_view flag) const;
  /// The last value given.
  std::optional<std::string> value(std::string_view flag) const;
  std::vector<std::string> values(std::string_view flag) const;
  int count(std::string_view flag) const;

  /// Numbers of command.md section 1: counts with K M G (decimal), bytes with K M G (binary). E0001 names the flag.
  Result<int64_t> count(std::string_view flag, int64_t fallback) const;
  Result<int64_t> bytes(std::string_view flag, int64_t fallback) const;
  Result<double> number(std::string_view flag, double fallback) const;

  bool json() const;

  struct Given {
    std::string_view flag;
    std::string value;
    ValueOrigin origin;
  };
  std::vector<Given> given; ///< in order
};

/// Parses everything behind the program's name. E0001 for what is not in the table, with "did you mean".
Result<Options> parseOptions(int argc, char **argv);

/// `value` of a count or a size, as in `--length 2K`.
Result<int64_t> parseCount(std::string_view flag, std::string_view text);
Result<int64_t> parseBytes(std::string_view flag, std::string_view text);

/// The candidate nearest to `word` by edit distance, at most a third of its length away; none on a tie.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string_view> &candidates);

} // namespace lstmc::cli
