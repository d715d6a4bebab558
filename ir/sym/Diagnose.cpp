#include "ir/sym/Diagnose.h"

#include "ir/sym/Location.h"

using namespace mlir;

namespace lstmc::sym {

// MLIR's diagnostics have no field for an error code, so the location carries it as a fused string.
static constexpr StringRef kNoteTags[] = {"lstmc.reason", "lstmc.also", "lstmc.help"};

static Location tagged(Location place, StringRef tag) {
  return FusedLoc::get(place.getContext(), {place}, StringAttr::get(place.getContext(), tag));
}

static StringRef tagOf(Location place) {
  if (auto fused = dyn_cast<FusedLoc>(place))
    if (auto tag = dyn_cast_or_null<StringAttr>(fused.getMetadata()))
      return tag.getValue();
  return {};
}

CodedDiagnostic emitCoded(Location place, ErrorCode code) {
  return CodedDiagnostic(emitError(tagged(place, errorRecord(code).name)), place);
}
CodedDiagnostic emitCoded(Operation *op, ErrorCode code) { return emitCoded(op->getLoc(), code); }
CodedDiagnostic warnCoded(Location place, ErrorCode code) {
  return CodedDiagnostic(emitWarning(tagged(place, errorRecord(code).name)), place);
}

void CodedDiagnostic::note(NoteKind kind, const Twine &text, Location place) {
  diagnostic_.attachNote(tagged(place, kNoteTags[int(kind)])) << text;
}

static NoteKind kindOf(mlir::Diagnostic &note) {
  const StringRef *found = llvm::find(kNoteTags, tagOf(note.getLocation()));
  return found == std::end(kNoteTags) ? NoteKind::Reason : NoteKind(found - kNoteTags);
}

static Severity severityOf(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return Severity::Error;
  case DiagnosticSeverity::Warning:
    return Severity::Warning;
  default:
    return Severity::Note;
  }
}

lstmc::Diagnostic toDiagnostic(mlir::Diagnostic &diagnostic) {
  lstmc::Diagnostic result;
  std::optional<ErrorRecord> record = findError(tagOf(diagnostic.getLocation()));
  result.code = record ? record->code : ErrorCode::E0099;
  result.severity = severityOf(diagnostic.getSeverity());
  result.message = diagnostic.str();
  result.place = decode(diagnostic.getLocation());
  for (mlir::Diagnostic &note : diagnostic.getNotes()) {
    switch (kindOf(note)) {
    case NoteKind::Reason:
      result.reasons.push_back({note.str(), decode(note.getLocation())});
      break;
    case NoteKind::Also:
      result.also.push_back(decode(note.getLocation()));
      break;
    case NoteKind::Help:
      result.help = note.str();
      break;
    }
  }
  return result;
}

} // namespace lstmc::sym
