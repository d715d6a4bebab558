// The command line, parsed by the one table in options.def.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/base/OutputFile.h"
#include "executor/base/Status.h"

namespace lstmc::cli {

struct CommandRecord {
  std::string_view name, synopsis, line;
};
struct FlagRecord {
  std::string_view name;
  char letter;               ///< 0: none
  std::string_view argument; ///< empty: a switch; "a|b|c": one of these
  std::string_view fallback; ///< the value in force without the flag; empty: none
  bool repeats;
  std::string_view help;
  std::string_view commands;

  bool servedBy(std::string_view command) const;
  /// The words of "a|b|c"; empty where the argument is free.
  std::vector<std::string_view> choices() const;
};

const std::vector<CommandRecord> &commands();
const std::vector<FlagRecord> &flags();

/// Where a value given comes from; the earlier beats the later.
enum class ValueOrigin { Flag, Environment, Config };

/// The flags of one call.
class Options {
public:
  std::string command;
  std::vector<std::string> operands; ///< MODEL, FILE...
  std::vector<std::string> rest;     ///< of `opt`: passes and their options, handed on as they are

  // What was given: by flag, environment or config file.
  bool has(std::string_view flag) const;
  /// The last value given.
  std::optional<std::string> value(std::string_view flag) const;
  std::vector<std::string> values(std::string_view flag) const;
  int count(std::string_view flag) const;

  // What is in force: the last value given, else the table's.
  std::string text(std::string_view flag) const;
  /// Counts with K M G (powers of 1,000), bytes with K M G (powers of 1,024), other numbers. E0001
  /// names the flag.
  Result<int64_t> countInForce(std::string_view flag) const;
  Result<int64_t> bytesInForce(std::string_view flag) const;
  Result<double> numberInForce(std::string_view flag) const;

  bool json() const;
  OutputFile::Existing existing() const; ///< --force

  /// The same with one flag given otherwise, once; "" takes it away.
  Options with(std::string_view flag, const std::string &value) const;

  struct Given {
    std::string_view flag;
    std::string value;
    ValueOrigin origin;
    std::string source; ///< the config file, or the environment's variable
  };
  std::vector<Given> given; ///< in order
};

/// Parses everything after the program's name. E0001 for what is not in the table, with "did you
/// mean".
Result<Options> parseOptions(int argc, char **argv);

/// `a,b,c` as its parts, empty ones left out.
std::vector<std::string> splitCommas(std::string_view text);

/// `value` of a count or a size, as in `--length 2K`.
Result<int64_t> parseCount(std::string_view flag, std::string_view text);
Result<int64_t> parseBytes(std::string_view flag, std::string_view text);

/// "; did you mean "--NAME"?" where there is one nearest candidate, else "".
std::string didYouMean(std::string_view word, const std::vector<std::string_view> &candidates,
                       std::string_view prefix = "");

} // namespace lstmc::cli
