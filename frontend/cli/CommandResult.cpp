#include "frontend/cli/CommandResult.h"

namespace lstmc::cli {

Diagnostic asDiagnostic(const Error &error) {
  Diagnostic diagnostic;
  diagnostic.code = error.code;
  diagnostic.message = error.message;
  diagnostic.place.file = error.place.file;
  diagnostic.place.line = error.place.line;
  diagnostic.place.column = error.place.column;
  diagnostic.place.byte = error.place.byte;
  return diagnostic;
}

} // namespace lstmc::cli
