// What a subcommand came to: an exit code, or what kept the work from being done.
#pragma once

#include <optional>

#include "executor/base/Diagnostic.h"
#include "executor/base/Status.h"

namespace lstmc::cli {

/// An error of the runtime in the form of the compiler's.
Diagnostic asDiagnostic(const Error &error);

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

inline Diagnostics failureOf(const Status &status) { return {asDiagnostic(status.error())}; }
template <typename T> Diagnostics failureOf(const Result<T> &result) {
  return {asDiagnostic(result.error())};
}
template <typename T> Diagnostics failureOf(const Checked<T> &checked) {
  return checked.diagnostics();
}
inline Diagnostics failureOf(const CommandResult &result) { return result.diagnostics(); }

} // namespace lstmc::cli

/// As LSTMC_TRY and LSTMC_ASSIGN, in functions that return a Checked or a CommandResult; `expr` may
/// be a Checked too.
#define LSTMC_CHECKED_TRY(expr)                                                                    \
  do {                                                                                             \
    if (auto tryResult_ = (expr); !tryResult_.ok())                                                \
      return ::lstmc::cli::failureOf(tryResult_);                                                  \
  } while (false)

#define LSTMC_CHECKED_ASSIGN(decl, expr)                                                           \
  LSTMC_CHECKED_ASSIGN_(decl, expr, LSTMC_CONCAT(checkedResult_, __LINE__))
#define LSTMC_CHECKED_ASSIGN_(decl, expr, name)                                                    \
  auto name = (expr);                                                                              \
  if (!name.ok())                                                                                  \
    return ::lstmc::cli::failureOf(name);                                                          \
  decl = std::move(*name)
