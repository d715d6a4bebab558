// Places in a user's text as MLIR locations, without loss.
//
// A location is a FileLineColLoc, fused with #sym.range (bytes, lengths, the arguments' places)
// and, inside loops and calls, fused once more with #sym.frame. The range is shared by all
// iterations of a loop, the frame by all ops of an iteration. Lines of text are kept once per
// context (SourceText.h).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/ArrayRef.h"

#include "executor/base/Diagnostic.h"

namespace lstmc::sym {

/// Makes locations; remembers the last file and frame, since neighbours share them.
class LocationEncoder {
public:
  explicit LocationEncoder(mlir::MLIRContext *context) : context_(context) {}
  /// `arguments`: where the op's operands stand, in their order; line 0 for one that stands
  /// nowhere.
  mlir::Location encode(const SourceRange &range, llvm::ArrayRef<SourceRange> arguments = {});

private:
  mlir::MLIRContext *context_;
  std::string file_;
  mlir::StringAttr fileAttr_;
  std::vector<std::pair<std::string, int64_t>> loops_;
  std::vector<std::string> calls_;
  mlir::Attribute frame_;
};

/// What was encoded; for other locations as much as they say (line 0 for none). Fused locations
/// give their first place.
SourceRange decode(mlir::Location location);
/// Where operand `index` stands; nothing if that is not known.
std::optional<SourceRange> argumentPlace(mlir::Location location, unsigned index);
/// The location of a place inside the same frame: an argument of a call, as a location of its own.
mlir::Location placed(mlir::Location around, const SourceRange &place);

/// " at tied.lnet:10:19, for i = 1"; empty where the location says nothing.
std::string atText(mlir::Location location);
/// "for i = 1, t = 3"; empty outside loops.
std::string loopsText(const SourceRange &range);

} // namespace lstmc::sym
