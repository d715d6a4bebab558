// Error reporting of a run at its current position, and early termination.
#pragma once

#include <functional>

#include <fmt/format.h>

#include "executor/base/NumberText.h"
#include "frontend/lnet/evaluation/Position.h"
#include "frontend/lnet/text/Limits.h"
#include "frontend/lnet/text/Problems.h"
#include "frontend/names/Suggestion.h"

namespace lstmc::lnet {

/// Functions that report an error return an unknown value, so that a caller can write
/// `return run.error(..)`.
class Messages {
public:
  Messages(const Limits &limits, Problems &problems, bool rehearses)
      : limits_(limits), problems_(problems), rehearses_(rehearses),
        stepsLeft_(int64_t(limits.steps)) {}

  Heap heap; ///< declared before everything that holds values, so that it is destroyed last
  Position at;
  symbol::Graph *graph = nullptr; ///< of the net that is being drawn; null while a file is run

  /// Returns the graph for tensors created at file level; null if they are not allowed.
  std::function<symbol::Graph *()> fileGraph;

  const Limits &limits() const { return limits_; }
  Problems &problems() { return problems_; }

  SourceRange place(Span span) const { return at.place(span); }
  Diagnostic makeError(ErrorCode code, Span span, std::string message, std::string help = {}) const;
  Value report(Diagnostic diagnostic);
  template <typename... Args>
  Value error(ErrorCode code, Span span, fmt::format_string<Args...> format, Args &&...args) {
    return report(makeError(code, span, fmt::format(format, std::forward<Args>(args)...)));
  }
  void warn(ErrorCode code, Span span, std::string message);
  /// An error about a name that is not among `known`, which it lists where they are not too many.
  Value unknownName(ErrorCode code, Span span, std::string message, NameKind kind,
                    std::string_view written, const std::vector<std::string_view> &known);
  /// An error that `--limit LIMIT=N` would avoid.
  Value limitError(ErrorCode code, Span span, std::string message, std::string_view limit);
  /// E0314 and false if a value of so many elements or bytes is beyond `--limit list`.
  bool fits(std::string_view what, std::string_view unit, uint64_t count, Span span);
  /// E0319 unless a net is being drawn.
  bool mayDraw(std::string_view what, Span span);

  /// Ends the run: no statement is run any more.
  void abort();
  bool aborted() const { return aborted_; }

  bool rehearses() const { return rehearses_; }
  /// Ends a rehearsal in which there is a message that is not about a limit. It could name the
  /// wrong node, so it is left to the run that makes the graph.
  bool giveUpRehearsal();
  /// After a rehearsal came to its end.
  void endRehearsal() { inVain_ = !limitReached_; }
  bool inVain() const { return inVain_; }

protected:
  /// From here on, a rehearsal reports what the run that makes the graph would report.
  void reachLimit() { limitReached_ = true; }

private:
  const Limits &limits_;
  Problems &problems_;
  const bool rehearses_;
  bool aborted_ = false, limitReached_ = false, inVain_ = false;

protected:
  int64_t stepsLeft_; ///< 0 once the run is aborted
};

} // namespace lstmc::lnet
