// What a subcommand came to: an exit code, or what kept the work from being done.
#pragma once

#include <optional>

#include "executor/base/Checked.h"

namespace lstmc::cli {

/// Returned by a subcommand to Main.cpp, which reports the diagnostics, as text or JSON, and leaves
/// with the exit code: its own, else that of the first error (Errors.def).
class [[nodiscard]] CommandResult {
public:
  CommandResult(ExitCode exit) : exit_(exit) {}
  CommandResult(const Error &error) : failure_({asDiagnostic(error)}) {}
  CommandResult(Diagnostics errors) : failure_(std::move(errors)) {}

  bool ok() const { return !failure_; }
  ExitCode exit() const { return exit_; }                      ///< where ok()
  const Diagnostics &diagnostics() const { return *failure_; } ///< where not

private:
  ExitCode exit_ = ExitCode::Ok;
  std::optional<Diagnostics> failure_;
};

inline Diagnostics failureOf(const CommandResult &result) { return result.diagnostics(); }

} // namespace lstmc::cli
