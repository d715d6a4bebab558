// How the evaluator says where it was: places, loops and calls in force, limits.
#include "frontend/lnet/Evaluator.h"

namespace lstmc::lnet {

void Evaluator::addLoopValues(const Expr *targets, const Value &item, SourceRange &range) const {
  if (targets->kind == ExprKind::Name) {
    if (item.is(ValueKind::Integer))
      range.loops.emplace_back(static_cast<const NameExpr *>(targets)->name, item.integer());
    return;
  }
  auto &elements = static_cast<const SequenceExpr *>(targets)->elements;
  if (!item.isSequence() || item.items().size() != elements.size())
    return;
  for (size_t i = 0; i < elements.size(); ++i)
    addLoopValues(elements[i], item.items()[i], range);
}

constexpr size_t kCallsShown = 8;

/// In layers.lnet the place is that of the user's call, with the loops and calls that were in force
/// there.
SourceRange Evaluator::place(Span span) const {
  const Module *module = module_;
  size_t calls = calls_.size(), loops = loops_.size();
  for (size_t i = 0; i < calls_.size(); ++i)
    if (calls_[i].internal && calls_[i].call) {
      module = calls_[i].callerModule;
      span = calleeSpan(calls_[i].call);
      calls = i;
      loops = calls_[i].loops;
      break;
    }
  SourceRange range = module->file->range(span);
  if (module != module_)
    range.what = layerShown_;
  for (size_t i = 0; i < loops; ++i)
    addLoopValues(loops_[i].targets, loops_[i].item, range);
  // The innermost calls say where one is; a graph of many nodes must not carry hundreds for each.
  for (size_t i = calls > kCallsShown ? calls - kCallsShown : 0; i < calls; ++i) {
    const CallRecord &record = calls_[i];
    if (!record.call)
      continue;
    if (record.text.empty())
      record.text =
          fmt::format("{}(..) at {}", record.name,
                      record.callerModule->file->placeText(calleeSpan(record.call).begin));
    range.calls.push_back(record.text);
  }
  return range;
}

Diagnostic Evaluator::makeError(ErrorCode code, Span span, std::string message,
                                std::string help) const {
  Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.message = std::move(message);
  diagnostic.place = place(span);
  diagnostic.help = std::move(help);
  return diagnostic;
}

/// "in cell(..) at cell.lnet:16:16, for t = 3": the calls and loop values in force at a place;
/// empty if none are.
static std::string contextText(const SourceRange &place) {
  constexpr ptrdiff_t kShown = 3;
  std::string text;
  for (auto call = place.calls.rbegin(); call != place.calls.rend(); ++call) {
    if (call - place.calls.rbegin() == kShown) {
      text += ", …";
      break;
    }
    text += fmt::format("{}{}", text.empty() ? "in " : ", in ", *call);
  }
  for (auto &[name, value] : place.loops)
    text += fmt::format("{}for {} = {}", text.empty() ? "" : ", ", name, grouped(value));
  return text;
}

/// In a rehearsal, what is said may be about another node than it should: it is said again by the
/// run that makes the graph. Not so of limits, which count.
bool Evaluator::giveUpRehearsal() {
  if (!graph_ || !graph_->rehearsing() || limitReached_)
    return false;
  inVain_ = true;
  abort();
  return true;
}

Value Evaluator::report(Diagnostic diagnostic) {
  if (giveUpRehearsal())
    return Value::unknown();
  std::string context = contextText(diagnostic.place);
  if (!context.empty() && diagnostic.reasons.empty())
    diagnostic.reasons.push_back({std::move(context), diagnostic.place});
  problems_.add(std::move(diagnostic));
  return Value::unknown();
}

Value Evaluator::limitError(ErrorCode code, Span span, std::string message,
                            std::string_view limit) {
  return report(makeError(code, span, std::move(message),
                          fmt::format("--limit {}=N changes the limit", limit)));
}

/// Graph diagnostics have the places that calls brought; lines that were too long to carry are
/// filled in.
void Evaluator::reportGraph(Diagnostics diagnostics) {
  if (!diagnostics.empty() && giveUpRehearsal())
    return;
  auto fill = [&](SourceRange &range) {
    if (!range.text.empty() || range.line == 0)
      return;
    for (auto &module : modules_)
      if (module->file->path() == range.file && range.line <= module->file->lineCount())
        range.text = std::string(module->file->lineText(range.line));
  };
  for (Diagnostic &diagnostic : diagnostics) {
    fill(diagnostic.place);
    for (SourceRange &range : diagnostic.also)
      fill(range);
    problems_.add(std::move(diagnostic));
  }
}

void Evaluator::abort() {
  aborted_ = true;
  stepsLeft_ = 0;
}

/// The loop that a limit is the doing of: the innermost that took half of it by itself, else the
/// outermost.
const Evaluator::LoopRecord *Evaluator::heaviest(bool steps) const {
  uint64_t limit = steps ? options_.limits.steps : options_.limits.nodes;
  for (auto loop = loops_.rbegin(); loop != loops_.rend(); ++loop) {
    int64_t taken = steps ? loop->stepsBefore - stepsLeft_ : nodes_ - loop->nodesBefore;
    if (uint64_t(std::max<int64_t>(0, taken)) >= limit / 2)
      return &*loop;
  }
  return loops_.empty() ? nullptr : &loops_.front();
}

SourceRange Evaluator::loopPlace(const LoopRecord &loop) const {
  SourceRange range = loop.module->file->range(loop.iterable);
  for (const LoopRecord &outer : loops_) {
    if (&outer == &loop)
      break;
    addLoopValues(outer.targets, outer.item, range);
  }
  for (size_t i = 0; i < calls_.size() && i < loop.callDepth; ++i)
    if (calls_[i].call)
      range.calls.push_back(
          fmt::format("{}(..) at {}", calls_[i].name,
                      calls_[i].callerModule->file->placeText(calleeSpan(calls_[i].call).begin)));
  return range;
}

std::string Evaluator::loopText(const LoopRecord &loop) const {
  std::string value = fmt::format("iteration {}", grouped(int64_t(loop.index)));
  if (loop.targets->kind == ExprKind::Name && loop.item.is(ValueKind::Integer))
    value = fmt::format("{} = {}", static_cast<const NameExpr *>(loop.targets)->name,
                        grouped(loop.item.integer()));
  return fmt::format("at {} of {}", value, grouped(int64_t(loop.count)));
}

bool Evaluator::outOfSteps(Span span) {
  if (aborted_)
    return false;
  limitReached_ = true;
  const LoopRecord *loop = heaviest(true);
  Diagnostic diagnostic =
      makeError(ErrorCode::E0312, span,
                fmt::format("this {} reached {} steps, the limit", loop ? "loop" : "call",
                            grouped(int64_t(options_.limits.steps))),
                "--limit steps=N changes the limit");
  if (loop) {
    diagnostic.place = loopPlace(*loop);
    diagnostic.reasons.push_back({loopText(*loop), loopPlace(*loop)});
  }
  report(std::move(diagnostic));
  abort();
  return false;
}

/// A graph of so many nodes is made in the time and memory that a refusal may take.
static constexpr int64_t kRehearseFrom = 20'000;

/// After every call that grows the graph: E0311 once it is beyond the limit.
bool Evaluator::checkNodes(Span origin) {
  nodes_ = graph_->nodeCount();
  if (rehearses_ && nodes_ >= kRehearseFrom && !graph_->rehearsing())
    graph_->rehearse();
  if (uint64_t(nodes_) <= options_.limits.nodes)
    return true;
  if (aborted_)
    return false;
  limitReached_ = true;
  std::string limit = grouped(int64_t(options_.limits.nodes));
  const LoopRecord *loop = heaviest(false);
  Diagnostic diagnostic =
      makeError(ErrorCode::E0311, origin,
                fmt::format("this {} brought the graph to {} nodes, the limit",
                            loop ? "loop" : "call", limit),
                loop ? "foreach keeps one copy of the body" : "--limit nodes=N changes the limit");
  if (loop) {
    diagnostic.place = loopPlace(*loop);
    std::string text = loopText(*loop);
    const auto &costly = loop->lastCostly;
    if (costly.call)
      text += fmt::format("; {}(..) at {} makes {} nodes of the {} in an iteration", costly.name,
                          loop->module->file->placeText(calleeSpan(costly.call).begin),
                          grouped(costly.nodes), grouped(loop->lastIteration));
    else if (loop->lastIteration > 0)
      text += fmt::format("; an iteration makes {} nodes", grouped(loop->lastIteration));
    diagnostic.reasons.push_back(
        {std::move(text),
         costly.call ? loop->module->file->range(calleeSpan(costly.call)) : loopPlace(*loop)});
  }
  report(std::move(diagnostic));
  abort();
  return false;
}

} // namespace lstmc::lnet
