// Errors with codes and reasons, as MLIR diagnostics. frontend/symbol/Diagnose.h turns them into
// what users see.
#pragma once

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"

#include "executor/base/Diagnostic.h"
#include "executor/base/Errors.h"

namespace lstmc::sym {

/// The kind of a note in a diagnostic with a code.
enum class NoteKind { Reason, Also, Help };

/// An error that is being built; it is reported when it goes out of scope.
class [[nodiscard]] CodedDiagnostic {
public:
  CodedDiagnostic(mlir::InFlightDiagnostic &&diagnostic, mlir::Location place)
      : diagnostic_(std::move(diagnostic)), place_(place) {}

  template <typename T> CodedDiagnostic &operator<<(T &&value) & {
    diagnostic_ << std::forward<T>(value);
    return *this;
  }
  template <typename T> CodedDiagnostic &&operator<<(T &&value) && {
    diagnostic_ << std::forward<T>(value);
    return std::move(*this);
  }

  /// A fact that led to the error, with its place. The text ends with that place: " at
  /// FILE:LINE:COLUMN, for i = 1".
  void because(const llvm::Twine &text, mlir::Location place) {
    note(NoteKind::Reason, text, place);
  }
  /// Another place on the error's line, underlined with ~.
  void also(mlir::Location place) { note(NoteKind::Also, "", place); }
  /// How to fix the error; one at most.
  void help(const llvm::Twine &text) { note(NoteKind::Help, text, place_); }

  operator llvm::LogicalResult() const { return mlir::failure(); }
  operator mlir::ParseResult() const { return mlir::failure(); }

private:
  void note(NoteKind kind, const llvm::Twine &text, mlir::Location place);
  mlir::InFlightDiagnostic diagnostic_;
  mlir::Location place_;
};

CodedDiagnostic emitCoded(mlir::Location place, ErrorCode code);
CodedDiagnostic emitCoded(mlir::Operation *op, ErrorCode code);
CodedDiagnostic warnCoded(mlir::Location place, ErrorCode code);

/// The only place where MLIR's diagnostics become lstmc's. Code, places and reasons are those that
/// emitCoded added; a diagnostic without a code comes from MLIR itself and becomes E0099.
lstmc::Diagnostic toDiagnostic(mlir::Diagnostic &diagnostic);

} // namespace lstmc::sym
