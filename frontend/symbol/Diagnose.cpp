#include "frontend/symbol/Diagnose.h"

#include "ir/sym/Diagnose.h"
#include "ir/sym/Location.h"

namespace lstmc::symbol {

static Severity severityOf(mlir::DiagnosticSeverity severity) {
  switch (severity) {
  case mlir::DiagnosticSeverity::Error:
    return Severity::Error;
  case mlir::DiagnosticSeverity::Warning:
    return Severity::Warning;
  default:
    return Severity::Note;
  }
}

Diagnostic convert(mlir::Diagnostic &diagnostic) {
  Diagnostic result;
  result.code = sym::codeOf(diagnostic).value_or(ErrorCode::E0099);
  result.severity = severityOf(diagnostic.getSeverity());
  result.message = diagnostic.str();
  result.place = sym::decode(diagnostic.getLocation());
  for (mlir::Diagnostic &note : diagnostic.getNotes()) {
    switch (sym::kindOf(note)) {
    case sym::NoteKind::Reason:
      result.reasons.push_back({note.str(), sym::decode(note.getLocation())});
      break;
    case sym::NoteKind::Also:
      result.also.push_back(sym::decode(note.getLocation()));
      break;
    case sym::NoteKind::Help:
      result.help = note.str();
      break;
    }
  }
  return result;
}

DiagnosticCollector::DiagnosticCollector(mlir::MLIRContext *context) : context_(context) {
  handler_ = context->getDiagEngine().registerHandler(
      [this](mlir::Diagnostic &diagnostic) { collected_.push_back(convert(diagnostic)); });
}

DiagnosticCollector::~DiagnosticCollector() { context_->getDiagEngine().eraseHandler(handler_); }

} // namespace lstmc::symbol
