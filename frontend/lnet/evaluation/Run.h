// One run of a file and what it imports: its values, its position, its limits and its messages.
#pragma once

#include <fmt/format.h>

#include "executor/base/NumberText.h"
#include "frontend/lnet/evaluation/Position.h"
#include "frontend/lnet/text/Limits.h"
#include "frontend/lnet/text/Problems.h"

namespace lstmc::lnet {

/// What all parts of the evaluation share. Functions that report give back an unknown value, so
/// that a caller can return what they give.
class Run {
public:
  /// `rehearses`: of a graph that grows large, nodes are counted only, to see whether the limit
  /// comes first (Graph::rehearse). Where it does not, the run was in vain and makes no net.
  Run(const Limits &limits, Problems &problems, bool rehearses);

  Heap heap; ///< before all that holds values, so that it goes last
  Position at;
  symbol::Graph *graph = nullptr; ///< of the net that is being drawn; null while a file is run

  const Limits &limits() const { return limits_; }
  Problems &problems() { return problems_; }
  /// A frame of names for one run of a function or file.
  Value newFrame(Value parent, size_t slots);

  // Messages.
  SourceRange place(Span span) const { return at.place(span); }
  Diagnostic makeError(ErrorCode code, Span span, std::string message, std::string help = {}) const;
  Value report(Diagnostic diagnostic);
  template <typename... Args>
  Value error(ErrorCode code, Span span, fmt::format_string<Args...> format, Args &&...args) {
    return report(makeError(code, span, fmt::format(format, std::forward<Args>(args)...)));
  }
  /// An error that `--limit LIMIT=N` would avoid.
  Value limitError(ErrorCode code, Span span, std::string message, std::string_view limit);
  /// E0314 for a value of so many elements, or bytes, if that is too many; true if it is not.
  bool fits(std::string_view what, std::string_view unit, uint64_t count, Span span);
  /// E0319 unless a net is being drawn.
  bool mayDraw(std::string_view what, Span span);

  // Limits on steps and nodes.
  /// Counts one expression; false once the limit is reached.
  bool step(Span span) { return --stepsLeft_ >= 0 || outOfSteps(span); }
  /// Counts the work on `n` elements, so that copies cost steps too.
  bool stepMany(uint64_t n, Span span) {
    stepsLeft_ -= int64_t(n / 4);
    return stepsLeft_ >= 0 || outOfSteps(span);
  }
  /// After every call that grows the graph: E0311 once it is beyond the limit.
  bool checkNodes(Span origin);
  int64_t nodes() const { return nodes_; }
  void countNodes();

  // Loops and calls, for messages about limits.
  void beginLoop(const Expr *targets, Span iterable);
  void beginIteration(Value item, uint64_t index, uint64_t count);
  void endLoop() { at.loops.pop_back(); }
  /// A call has ended that began with so many nodes: the innermost loop remembers the costliest.
  void endCall(std::string_view name, const CallExpr *call, int64_t nodesBefore);

  /// Ends the run: no statement is run any more.
  void abort();
  bool aborted() const { return aborted_; }
  bool rehearses() const { return rehearses_; }
  /// Ends a rehearsal in which something else than a limit has to be said. What is said may be
  /// about another node than it should, so the run that makes the graph says it.
  bool giveUpRehearsal();
  /// After a rehearsal came to its end.
  void endRehearsal() { inVain_ = !limitReached_; }
  bool inVain() const { return inVain_; }

private:
  bool outOfSteps(Span span);
  const LoopRecord *heaviest(bool steps) const;

  const Limits &limits_;
  Problems &problems_;
  const bool rehearses_;
  int64_t stepsLeft_;
  int64_t nodes_ = 0;
  uint64_t frames_ = 0;
  bool aborted_ = false, limitReached_ = false, inVain_ = false;
};

} // namespace lstmc::lnet
