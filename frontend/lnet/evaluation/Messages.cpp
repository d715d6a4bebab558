#include "frontend/lnet/evaluation/Messages.h"

namespace lstmc::lnet {

Diagnostic Messages::makeError(ErrorCode code, Span span, std::string message,
                               std::string help) const {
  Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.message = std::move(message);
  diagnostic.place = place(span);
  diagnostic.help = std::move(help);
  return diagnostic;
}

/// Number of steps that a message counts as: about the cost of finding similar names. A loop that
/// reports the same error in every iteration therefore ends as early as any other.
static constexpr int64_t kStepsOfMessage = 5000;

Value Messages::report(Diagnostic diagnostic) {
  if (giveUpRehearsal())
    return Value::unknown();
  stepsLeft_ -= kStepsOfMessage;
  std::string context = contextText(diagnostic.place);
  if (!context.empty() && diagnostic.reasons.empty())
    diagnostic.reasons.push_back({std::move(context), diagnostic.place});
  problems_.add(std::move(diagnostic));
  return Value::unknown();
}

void Messages::warn(ErrorCode code, Span span, std::string message) {
  Diagnostic warning = makeError(code, span, std::move(message));
  warning.severity = Severity::Warning;
  report(std::move(warning));
}

Value Messages::unknownName(ErrorCode code, Span span, std::string message, NameKind kind,
                            std::string_view written, const std::vector<std::string_view> &known) {
  constexpr size_t kListed = 60;
  if (giveUpRehearsal()) // before names are compared
    return Value::unknown();
  Diagnostic diagnostic = makeError(code, span, std::move(message));
  if (known.size() > kListed) {
    diagnostic.help = suggestionOrList(kind, written, known);
    return report(std::move(diagnostic));
  }
  diagnostic.help = suggestion(kind, written, known);
  if (std::string context = contextText(diagnostic.place); !context.empty())
    diagnostic.reasons.push_back({std::move(context), diagnostic.place});
  if (!known.empty())
    diagnostic.reasons.push_back(
        {"the names here are " + listed(written, known), diagnostic.place});
  return report(std::move(diagnostic));
}

Value Messages::limitError(ErrorCode code, Span span, std::string message, std::string_view limit) {
  return report(makeError(code, span, std::move(message),
                          fmt::format("--limit {}=N changes the limit", limit)));
}

bool Messages::fits(std::string_view what, std::string_view unit, uint64_t count, Span span) {
  if (count <= limits_.list)
    return true;
  auto shown = int64_t(std::min<uint64_t>(count, INT64_MAX));
  limitError(ErrorCode::E0314, span,
             fmt::format("{} of {} {}, the limit is {}", what, grouped(shown), unit,
                         grouped(int64_t(limits_.list))),
             "list");
  return false;
}

bool Messages::mayDraw(std::string_view what, Span span) {
  if (!graph && fileGraph)
    graph = fileGraph();
  if (graph)
    return true;
  report(makeError(ErrorCode::E0319, span,
                   fmt::format("{} makes a tensor, and tensors are made in a net only", what),
                   "move it into a function with types, as def net(data: float32[N, 10]):"));
  return false;
}

bool Messages::giveUpRehearsal() {
  if (!graph || !graph->rehearsing() || limitReached_)
    return false;
  inVain_ = true;
  abort();
  return true;
}

void Messages::abort() {
  aborted_ = true;
  stepsLeft_ = 0;
}

} // namespace lstmc::lnet
