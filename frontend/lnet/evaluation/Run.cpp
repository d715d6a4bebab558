#include "frontend/lnet/evaluation/Run.h"

namespace lstmc::lnet {

Run::Run(const Limits &limits, Problems &problems, bool rehearses)
    : limits_(limits), problems_(problems), rehearses_(rehearses),
      stepsLeft_(int64_t(limits.steps)) {}

Value Run::newFrame(Value parent, size_t slots) {
  return heap.make<FrameObject>(std::move(parent), slots, ++frames_);
}

//===---- messages --------------------------------------------------------------------------===//

Diagnostic Run::makeError(ErrorCode code, Span span, std::string message, std::string help) const {
  Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.message = std::move(message);
  diagnostic.place = place(span);
  diagnostic.help = std::move(help);
  return diagnostic;
}

Value Run::report(Diagnostic diagnostic) {
  if (giveUpRehearsal())
    return Value::unknown();
  std::string context = contextText(diagnostic.place);
  if (!context.empty() && diagnostic.reasons.empty())
    diagnostic.reasons.push_back({std::move(context), diagnostic.place});
  problems_.add(std::move(diagnostic));
  return Value::unknown();
}

Value Run::limitError(ErrorCode code, Span span, std::string message, std::string_view limit) {
  return report(makeError(code, span, std::move(message),
                          fmt::format("--limit {}=N changes the limit", limit)));
}

bool Run::fits(std::string_view what, std::string_view unit, uint64_t count, Span span) {
  if (count <= limits_.list)
    return true;
  auto shown = int64_t(std::min<uint64_t>(count, INT64_MAX));
  limitError(ErrorCode::E0314, span,
             fmt::format("{} of {} {}, the limit is {}", what, grouped(shown), unit,
                         grouped(int64_t(limits_.list))),
             "list");
  return false;
}

bool Run::mayDraw(std::string_view what, Span span) {
  if (graph)
    return true;
  error(ErrorCode::E0319, span, "{} makes a tensor, and tensors are made in a net only", what);
  return false;
}

bool Run::giveUpRehearsal() {
  if (!graph || !graph->rehearsing() || limitReached_)
    return false;
  inVain_ = true;
  abort();
  return true;
}

void Run::abort() {
  aborted_ = true;
  stepsLeft_ = 0;
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

/// The loop that a limit is the doing of: the innermost that took half of it by itself, else the
/// outermost.
const LoopRecord *Run::heaviest(bool steps) const {
  uint64_t limit = steps ? limits_.steps : limits_.nodes;
  for (auto loop = at.loops.rbegin(); loop != at.loops.rend(); ++loop) {
    int64_t taken = steps ? loop->stepsBefore - stepsLeft_ : nodes_ - loop->nodesBefore;
    if (uint64_t(std::max<int64_t>(0, taken)) >= limit / 2)
      return &*loop;
  }
  return at.loops.empty() ? nullptr : &at.loops.front();
}

bool Run::outOfSteps(Span span) {
  if (aborted_)
    return false;
  limitReached_ = true;
  const LoopRecord *loop = heaviest(true);
  Diagnostic diagnostic =
      makeError(ErrorCode::E0312, span,
                fmt::format("this {} reached {} steps, the limit", loop ? "loop" : "call",
                            grouped(int64_t(limits_.steps))),
                "--limit steps=N changes the limit");
  if (loop) {
    diagnostic.place = at.loopPlace(*loop);
    diagnostic.reasons.push_back({at.loopText(*loop), at.loopPlace(*loop)});
  }
  report(std::move(diagnostic));
  abort();
  return false;
}

void Run::countNodes() { nodes_ = graph->nodeCount(); }

/// From so many nodes on a graph is rehearsed: a smaller one is made in the time and memory that a
/// refusal may take.
static constexpr int64_t kRehearseFrom = 20'000;

bool Run::checkNodes(Span origin) {
  countNodes();
  if (rehearses_ && nodes_ >= kRehearseFrom && !graph->rehearsing())
    graph->rehearse();
  if (uint64_t(nodes_) <= limits_.nodes)
    return true;
  if (aborted_)
    return false;
  limitReached_ = true;
  std::string limit = grouped(int64_t(limits_.nodes));
  const LoopRecord *loop = heaviest(false);
  Diagnostic diagnostic =
      makeError(ErrorCode::E0311, origin,
                fmt::format("this {} brought the graph to {} nodes, the limit",
                            loop ? "loop" : "call", limit),
                loop ? "foreach keeps one copy of the body" : "--limit nodes=N changes the limit");
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
