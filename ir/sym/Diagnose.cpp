#include "ir/sym/Diagnose.h"

using namespace mlir;

namespace lstmc::sym {

// MLIR's diagnostics have no room for a code, so it rides on the location: fused with a string.
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

std::optional<ErrorCode> codeOf(Diagnostic &diagnostic) {
  std::optional<ErrorRecord> record = findError(tagOf(diagnostic.getLocation()));
  return record ? std::optional(record->code) : std::nullopt;
}

NoteKind kindOf(Diagnostic &note) {
  const StringRef *found = llvm::find(kNoteTags, tagOf(note.getLocation()));
  return found == std::end(kNoteTags) ? NoteKind::Reason : NoteKind(found - kNoteTags);
}

} // namespace lstmc::sym
