// The command line: a field for each flag, and the records of the table (options.def).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/base/OutputFile.h"
#include "executor/base/Status.h"
#include "frontend/cli/FlagTypes.h"
#include "frontend/driver/Request.h"

namespace lstmc::cli {

enum class CommandId {
#define LSTMC_COMMAND(COMMAND, FUNCTION, NAME, SYNOPSIS, LINE) COMMAND,
#include "frontend/cli/options.def"
};
struct CommandRecord {
  CommandId id;
  std::string_view name, synopsis, line;
};
const std::vector<CommandRecord> &commands();
std::string_view nameOf(CommandId command);

/// A flag by the name of its field.
enum class Flag {
#define LSTMC_FLAG(FIELD, NAME, LETTER, TYPE, ARGUMENT, DEFAULT, GROUP, HELP, COMMANDS) FIELD,
#include "frontend/cli/options.def"
};
enum class FlagGroup {
  Compiled, ///< changes what is compiled, and so has no meaning for a package
  Own,
  Common, ///< of all commands but opt
};
struct FlagRecord {
  Flag flag; ///< of a spelling: ours
  std::string_view name;
  char letter;               ///< 0: none
  std::string_view argument; ///< empty: a switch
  std::string_view fallback; ///< the value in force without the flag; empty: none
  std::string_view choices;  ///< "a|b|c": one of these; empty: the argument is free
  bool repeats;
  bool swept; ///< only `bench` takes several
  FlagGroup group;
  std::string_view help;
  std::string_view commands;
  bool spelling = false;                    ///< MXNet's name of a flag that we have too
  std::string_view before = {}, after = {}; ///< of a spelling: what our value has around this one

  bool servedBy(CommandId command) const;
};
/// In the order of the table.
const std::vector<FlagRecord> &flags();
const FlagRecord &recordOf(Flag flag);

/// Where a value given comes from; the earlier beats the later.
enum class ValueOrigin { Flag, Environment, Config };

/// A value as it was typed, and by what means.
struct GivenValue {
  const FlagRecord *record;
  std::string value;
  ValueOrigin origin;
  std::string source; ///< the config file, or the environment's variable
};

/// The values in force. Flags of request.def fill what the driver is asked for.
struct FlagValues : TrainRequest {
#define LSTMC_REQUEST(...)
#define LSTMC_FLAG(FIELD, NAME, LETTER, TYPE, ARGUMENT, DEFAULT, GROUP, HELP, COMMANDS)            \
  TYPE::Field FIELD = TYPE::initial(NAME, DEFAULT);
#include "frontend/cli/options.def"
};

/// One call of the command.
struct Options : FlagValues {
  std::optional<CommandId> command;
  std::vector<std::string> operands; ///< MODEL, FILE...
  std::vector<std::string> rest;     ///< handed on as they are: of `opt`, passes and their options;
                                     ///< of `launch`, what is after --
  std::vector<GivenValue> given;     ///< what the fields were read from, in order

  /// By flag, environment, config file or the command itself.
  bool isGiven(Flag flag) const;
  std::string_view commandName() const { return command ? nameOf(*command) : ""; }
  bool wantsJson() const { return json || *format == Form::Json; }
  OutputFile::Existing existing() const; ///< --force
};

/// Parses everything after the program's name. E0001 for what is not in the table, with "did you
/// mean", and for a value that is not of its flag's type.
Result<Options> parseOptions(int argc, char **argv);

/// The command of that name.
std::optional<CommandId> findCommand(std::string_view name);
/// "; did you mean "NAME"?"
std::string didYouMeanCommand(std::string_view name);

} // namespace lstmc::cli
