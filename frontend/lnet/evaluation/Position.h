// The current position of a run, for messages: file, frame, calls and loops.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "executor/base/Diagnostic.h"
#include "frontend/lnet/evaluation/Module.h"

namespace lstmc::lnet {

/// A call that is running.
struct CallRecord {
  std::string_view name;
  Module *callerModule;
  const CallExpr *call;     ///< null: the net itself
  size_t loops;             ///< how many loops were in force at the call
  bool internal;            ///< the function is one of layers.lnet
  mutable std::string text; ///< "cell(..) at cell.lnet:16:16", computed on first use
};

/// A `for` or a comprehension that is running.
struct LoopRecord {
  const Expr *targets;
  Span iterable;
  Module *module;
  Value item; ///< of the iteration that is running
  uint64_t index = 0, count = 0;
  int64_t nodesBefore = 0, nodesAtIteration = 0, stepsBefore = 0;
  int64_t lastIteration = 0; ///< nodes made by the iteration before this one
  size_t callDepth = 0;
  /// The call that made the most nodes in an iteration.
  struct Costly {
    const CallExpr *call = nullptr;
    std::string_view name;
    int64_t nodes = 0;
  } costly{}, lastCostly{};
};

struct Position {
  Module *module = nullptr;
  FrameObject *frame = nullptr;
  const Owner *owner = nullptr; ///< the function or file that makes lists now
  std::vector<CallRecord> calls;
  std::vector<LoopRecord> loops;
  uint64_t callDepth = 0; ///< number of calls that are nested here; see `--limit depth`
  std::string layerShown; ///< what messages call nodes of layers.lnet: "LSTM(num_hidden=256)"

  /// The place of a span of the current file, with the loops and calls in force. In layers.lnet it
  /// is the place of the user's call instead.
  SourceRange place(Span span) const;
  /// The location of a loop's iterable, with the loops and calls around it.
  SourceRange loopPlace(const LoopRecord &loop) const;
  /// "at t = 17 of 1,000".
  static std::string loopText(const LoopRecord &loop);
};

/// The span that messages about a call underline: the called name.
Span calleeSpan(const CallExpr *call);

/// "in cell(..) at cell.lnet:16:16, for t = 3": the calls and loop values of a place; empty if it
/// has none.
std::string contextText(const SourceRange &place);

} // namespace lstmc::lnet
