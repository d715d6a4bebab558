#include "frontend/lnet/evaluation/Run.h"

namespace lstmc::lnet {

Value Run::newFrame(Value parent, const Scope &scope) {
  return heap.make<FrameObject>(std::move(parent), scope, ++frames_);
}

//===---- loops and calls -------------------------------------------------------------------===//

void Run::beginLoop(const Expr *targets, Span iterable) {
  LoopRecord &loop = at.loops.emplace_back(LoopRecord{targets, iterable, at.module, Value()});
  loop.nodesBefore = loop.nodesAtIteration = nodes_;
  loop.stepsBefore = stepsLeft_;
  loop.callDepth = at.calls.size();
}

void Run::beginIteration(Value item, uint64_t index, uint64_t count) {
  LoopRecord &loop = at.loops.back();
  loop.lastIteration = nodes_ - loop.nodesAtIteration;
  loop.nodesAtIteration = nodes_;
  loop.lastCostly = loop.costly;
  loop.costly = {};
  loop.item = std::move(item);
  loop.index = index;
  loop.count = count;
}

void Run::endCall(std::string_view name, const CallExpr *call, int64_t nodesBefore) {
  if (at.loops.empty() || !call)
    return;
  LoopRecord &loop = at.loops.back();
  if (loop.callDepth == at.calls.size() && nodes_ - nodesBefore > loop.costly.nodes)
    loop.costly = {call, name, nodes_ - nodesBefore};
}

//===---- limits ----------------------------------------------------------------------------===//

/// The loop to blame for reaching a limit: the innermost that used half of it by itself, else the
/// outermost.
const LoopRecord *Run::heaviest(bool steps) const {
  uint64_t limit = steps ? limits().steps : limits().nodes;
  for (auto loop = at.loops.rbegin(); loop != at.loops.rend(); ++loop) {
    int64_t taken = steps ? loop->stepsBefore - stepsLeft_ : nodes_ - loop->nodesBefore;
    if (uint64_t(std::max<int64_t>(0, taken)) >= limit / 2)
      return &*loop;
  }
  return at.loops.empty() ? nullptr : &at.loops.front();
}

bool Run::outOfSteps(Span span) {
  if (aborted())
    return false;
  reachLimit();
  const LoopRecord *loop = heaviest(true);
  Diagnostic diagnostic =
      makeError(ErrorCode::E0312, span,
                fmt::format("this {} reached {} steps, the limit", loop ? "loop" : "call",
                            grouped(int64_t(limits().steps))),
                "--limit steps=N changes the limit");
  if (loop) {
    diagnostic.place = at.loopPlace(*loop);
    diagnostic.reasons.push_back({at.loopText(*loop), at.loopPlace(*loop)});
  }
  report(std::move(diagnostic));
  abort();
  return false;
}

/// Number of nodes from which a graph is rehearsed: a smaller one is built in the time and memory
/// that a rejection may take.
static constexpr int64_t kRehearseFrom = 20'000;

bool Run::checkNodes(Span origin) {
  countNodes();
  if (rehearses() && nodes_ >= kRehearseFrom && !graph->rehearsing())
    graph->rehearse();
  if (uint64_t(nodes_) <= limits().nodes)
    return true;
  if (aborted())
    return false;
  reachLimit();
  std::string limit = grouped(int64_t(limits().nodes));
  const LoopRecord *loop = heaviest(false);
  Diagnostic diagnostic =
      makeError(ErrorCode::E0311, origin,
                fmt::format("this {} brought the graph to {} nodes, the limit",
                            loop ? "loop" : "call", limit),
                loop ? "LSTM(..), GRU(..) and RNNLayer(..) keep one copy of all steps"
                     : "--limit nodes=N changes the limit");
  if (loop) {
    diagnostic.place = at.loopPlace(*loop);
    std::string text = at.loopText(*loop);
    const LoopRecord::Costly &costly = loop->lastCostly;
    if (costly.call)
      text += fmt::format("; {}(..) at {} makes {} nodes of the {} in an iteration", costly.name,
                          loop->module->file->placeText(calleeSpan(costly.call).begin),
                          grouped(costly.nodes), grouped(loop->lastIteration));
    else if (loop->lastIteration > 0)
      text += fmt::format("; an iteration makes {} nodes", grouped(loop->lastIteration));
    diagnostic.reasons.push_back(
        {std::move(text),
         costly.call ? loop->module->file->range(calleeSpan(costly.call)) : at.loopPlace(*loop)});
  }
  report(std::move(diagnostic));
  abort();
  return false;
}

} // namespace lstmc::lnet
