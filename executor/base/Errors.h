// Error codes and exit codes, made from the table in Errors.def.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace lstmc {

/// The exit code of the process; the first error that stops the work decides it.
enum class ExitCode : int {
  Ok = 0,
  AnswerIsNo = 1,
  Usage = 2,
  Source = 3,
  Plan = 4,
  Device = 5,
  File = 6,
  Numbers = 7,
  Job = 8,
  OutOfMemory = 9,
  Internal = 70,
  Interrupted = 130,
  Terminated = 143,
};

enum class ErrorCode {
#define LSTMC_ERROR(CODE, EXIT) CODE,
#include "executor/base/Errors.def"
};

struct ErrorRecord {
  ErrorCode code;
  std::string_view name; ///< "E0207"
  ExitCode exit;
  std::string_view title; ///< one line
  std::string_view text;  ///< what `lstmc explain` prints, with an example
};

/// The record of a code; every code has one.
const ErrorRecord &errorRecord(ErrorCode code);

/// The record named "E0207", if there is one.
std::optional<ErrorRecord> findError(std::string_view name);

/// All names, in the order of the table.
std::vector<std::string_view> errorNames();

} // namespace lstmc
