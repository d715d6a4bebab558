// The one place where MLIR's diagnostics become lstmc's.
#pragma once

#include "mlir/IR/Diagnostics.h"

#include "executor/base/Diagnostic.h"

namespace lstmc::symbol {

/// Code, places and reasons as ir/sym/Diagnose.h put them in; a diagnostic without a code is MLIR's
/// own and becomes E0099.
Diagnostic convert(mlir::Diagnostic &diagnostic);

/// Collects what is reported in a context while it lives.
class DiagnosticCollector {
public:
  explicit DiagnosticCollector(mlir::MLIRContext *context);
  ~DiagnosticCollector();
  DiagnosticCollector(const DiagnosticCollector &) = delete;
  DiagnosticCollector &operator=(const DiagnosticCollector &) = delete;

  /// Those that came since the last call.
  Diagnostics take() { return std::exchange(collected_, {}); }

private:
  mlir::MLIRContext *context_;
  mlir::DiagnosticEngine::HandlerID handler_;
  Diagnostics collected_;
};

} // namespace lstmc::symbol
