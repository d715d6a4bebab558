// Results of the runtime's rooms and the compiler's, passed on as one: a Checked.
#pragma once

#include "executor/base/Diagnostic.h"
#include "executor/base/Status.h"

namespace lstmc {

/// An error of the runtime in the form of the compiler's.
inline Diagnostic asDiagnostic(const Error &error) {
  Diagnostic diagnostic;
  diagnostic.code = error.code;
  diagnostic.message = error.message;
  diagnostic.place.file = error.place.file;
  diagnostic.place.line = error.place.line;
  diagnostic.place.column = error.place.column;
  diagnostic.place.byte = error.place.byte;
  return diagnostic;
}

inline Diagnostics failureOf(const Status &status) { return {asDiagnostic(status.error())}; }
template <typename T> Diagnostics failureOf(const Result<T> &result) {
  return {asDiagnostic(result.error())};
}
template <typename T> Diagnostics failureOf(const Checked<T> &checked) {
  return checked.diagnostics();
}

} // namespace lstmc

/// As LSTMC_TRY and LSTMC_ASSIGN, in functions that return a Checked or a CommandResult; `expr` may
/// be a Checked too.
#define LSTMC_CHECKED_TRY(expr)                                                                    \
  do {                                                                                             \
    if (auto tryResult_ = (expr); !tryResult_.ok())                                                \
      return failureOf(tryResult_);                                                                \
  } while (false)

#define LSTMC_CHECKED_ASSIGN(decl, expr)                                                           \
  LSTMC_CHECKED_ASSIGN_(decl, expr, LSTMC_CONCAT(checkedResult_, __LINE__))
#define LSTMC_CHECKED_ASSIGN_(decl, expr, name)                                                    \
  auto name = (expr);                                                                              \
  if (!name.ok())                                                                                  \
    return failureOf(name);                                                                        \
  decl = std::move(*name)
