#include "frontend/lnet/evaluation/Position.h"

#include <fmt/format.h>

#include "executor/base/NumberText.h"

namespace lstmc::lnet {

namespace {

/// Adds the integers that a loop assigns to its targets.
void addLoopValues(const Expr *targets, const Value &item, SourceRange &range) {
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

/// "cell(..) at cell.lnet:16:16"
std::string callText(const CallRecord &call) {
  return fmt::format("{}(..) at {}", call.name,
                     call.callerModule->file->placeText(calleeSpan(call.call).begin));
}

} // namespace

Span calleeSpan(const CallExpr *call) {
  const Expr *callee = call->callee;
  return callee->kind == ExprKind::Attribute ? static_cast<const AttributeExpr *>(callee)->nameSpan
                                             : callee->span;
}

/// Number of calls shown with a location. The innermost are enough to identify it, and a graph of
/// many nodes must not store hundreds for each.
constexpr size_t kCallsShown = 8;

SourceRange Position::place(Span span) const {
  const Module *file = module;
  size_t callsInForce = calls.size(), loopsInForce = loops.size();
  for (size_t i = 0; i < calls.size(); ++i)
    if (calls[i].internal && calls[i].call) {
      file = calls[i].callerModule;
      span = calleeSpan(calls[i].call);
      callsInForce = i;
      loopsInForce = calls[i].loops;
      break;
    }
  SourceRange range = file->file->range(span);
  if (file != module)
    range.what = layerShown;
  for (size_t i = 0; i < loopsInForce; ++i)
    addLoopValues(loops[i].targets, loops[i].item, range);
  for (size_t i = callsInForce > kCallsShown ? callsInForce - kCallsShown : 0; i < callsInForce;
       ++i) {
    const CallRecord &record = calls[i];
    if (!record.call)
      continue;
    if (record.text.empty())
      record.text = callText(record);
    range.calls.push_back(record.text);
  }
  return range;
}

SourceRange Position::loopPlace(const LoopRecord &loop) const {
  SourceRange range = loop.module->file->range(loop.iterable);
  for (const LoopRecord &outer : loops) {
    if (&outer == &loop)
      break;
    addLoopValues(outer.targets, outer.item, range);
  }
  for (size_t i = 0; i < calls.size() && i < loop.callDepth; ++i)
    if (calls[i].call)
      range.calls.push_back(callText(calls[i]));
  return range;
}

std::string Position::loopText(const LoopRecord &loop) {
  std::string value = fmt::format("iteration {}", grouped(int64_t(loop.index)));
  if (loop.targets->kind == ExprKind::Name && loop.item.is(ValueKind::Integer))
    value = fmt::format("{} = {}", static_cast<const NameExpr *>(loop.targets)->name,
                        grouped(loop.item.integer()));
  return fmt::format("at {} of {}", value, grouped(int64_t(loop.count)));
}

std::string contextText(const SourceRange &place) {
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

} // namespace lstmc::lnet
