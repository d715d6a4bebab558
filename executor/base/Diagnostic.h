// What a user is told about a place in their text. Data only: frontend/symbol draws it (Render.h),
// because only that room knows how wide characters are.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "executor/base/Errors.h"
#include "executor/base/Status.h"

namespace lstmc {

/// A range of a source file, with the loop values and calls during which it was evaluated.
struct SourceRange {
  std::string file;
  int line = 0;      ///< from 1; 0: no place
  int column = 0;    ///< display cells, from 1
  int64_t byte = -1; ///< offset in the file, from 0
  int length = 1;    ///< display cells underlined
  int64_t bytes = 1; ///< bytes underlined
  std::string text;  ///< the source line
  /// Loop values at that time, outermost first: {"i", 1}.
  std::vector<std::pair<std::string, int64_t>> loops;
  /// Calls at that time, outermost first: "cell(..) at cell.lnet:16:16".
  std::vector<std::string> calls;
  /// The call at this place, if it is a layer and not the op itself: "LSTM(num_hidden=256)".
  std::string what;
};

enum class Severity { Error, Warning, Note };

/// A fact that explains a diagnostic, which has up to five. `text` reads as docs/language.md §5
/// shows and includes the fact's own place.
struct Reason {
  std::string text;
  SourceRange place;
};

struct Diagnostic {
  ErrorCode code = ErrorCode::E0106;
  Severity severity = Severity::Error;
  std::string message;
  SourceRange place;
  std::vector<SourceRange>
      also; ///< other places of interest on the same line, underlined with ~ only
  std::vector<Reason> reasons;
  std::string help; ///< empty: none; without "help: "
};

using Diagnostics = std::vector<Diagnostic>;

/// A value, or the diagnostics that prevented it (at least one error). A value may come with
/// warnings.
template <typename T> class [[nodiscard]] Checked {
public:
  Checked(T value, Diagnostics warnings = {})
      : value_(std::move(value)), diagnostics_(std::move(warnings)) {}
  Checked(Diagnostics errors) : diagnostics_(std::move(errors)) {}
  Checked(Diagnostic error) : diagnostics_{std::move(error)} {}

  bool ok() const { return value_.has_value(); }
  T &operator*() { return *value_; }
  const T &operator*() const { return *value_; }
  T *operator->() { return &*value_; }
  const T *operator->() const { return &*value_; }
  Diagnostics &diagnostics() { return diagnostics_; }
  const Diagnostics &diagnostics() const { return diagnostics_; }

private:
  std::optional<T> value_;
  Diagnostics diagnostics_;
};

} // namespace lstmc
