#include "frontend/symbol/Diagnose.h"

#include "ir/sym/Diagnose.h"

namespace lstmc::symbol {

DiagnosticCollector::DiagnosticCollector(mlir::MLIRContext *context) : context_(context) {
  handler_ = context->getDiagEngine().registerHandler([this](mlir::Diagnostic &diagnostic) {
    collected_.push_back(sym::toDiagnostic(diagnostic));
  });
}

DiagnosticCollector::~DiagnosticCollector() { context_->getDiagEngine().eraseHandler(handler_); }

} // namespace lstmc::symbol
