// One run of a file and what it imports: what all parts of the evaluation share.
#pragma once

#include "frontend/lnet/evaluation/Messages.h"

namespace lstmc::lnet {

/// The values, position and messages of a run, and the steps and nodes that it has used.
class Run : public Messages {
public:
  /// `rehearses`: of a graph that grows large, nodes are counted only, to see whether the limit
  /// comes first (Graph::rehearse). If it does not, the run was in vain and makes no net.
  using Messages::Messages;

  /// A frame of names for one run of a function or file.
  Value newFrame(Value parent, const Scope &scope);

  /// Counts one expression; false once the limit is reached.
  bool step(Span span) { return --stepsLeft_ >= 0 || outOfSteps(span); }
  /// Counts the work on `n` elements, so that copies of long lists use up steps too.
  bool stepMany(uint64_t n, Span span) {
    stepsLeft_ -= int64_t(n / 4);
    return stepsLeft_ >= 0 || outOfSteps(span);
  }
  /// After every call that grows the graph: E0311 once it is beyond the limit.
  bool checkNodes(Span origin);
  int64_t nodes() const { return nodes_; }
  void countNodes() { nodes_ = graph->nodeCount(); }

  // Loops and calls, for messages about limits.
  void beginLoop(const Expr *targets, Span iterable);
  void beginIteration(Value item, uint64_t index, uint64_t count);
  void endLoop() { at.loops.pop_back(); }
  /// Called at the end of a call that began at `nodesBefore` nodes: the innermost loop remembers
  /// its costliest call.
  void endCall(std::string_view name, const CallExpr *call, int64_t nodesBefore);

private:
  bool outOfSteps(Span span);
  const LoopRecord *heaviest(bool steps) const;

  int64_t nodes_ = 0;
  uint64_t frames_ = 0;
};

} // namespace lstmc::lnet
