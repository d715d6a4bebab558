// Collects the diagnostics of an MLIR context.
#pragma once

#include "mlir/IR/Diagnostics.h"

#include "executor/base/Diagnostic.h"

namespace lstmc::symbol {

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
