// Lossless encoding of source ranges as MLIR locations.
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
#include "llvm/ADT/SmallVector.h"

#include "executor/base/Diagnostic.h"

namespace lstmc::sym {

/// Encodes locations. Caches the last file and frame, which neighbouring ops share.
class LocationEncoder {
public:
  explicit LocationEncoder(mlir::MLIRContext *context) : context_(context) {}
  /// `arguments`: the places of the op's operands in the source, in their order; line 0 for an
  /// operand that has none.
  mlir::Location encode(const SourceRange &range, llvm::ArrayRef<SourceRange> arguments = {});

private:
  /// Encodes a range without its frame. Cached, because iterations of a loop repeat the ranges of
  /// its body.
  mlir::Location placeOf(const SourceRange &range, llvm::ArrayRef<SourceRange> arguments);

  struct Known {
    SourceRange range; ///< without loops and calls
    llvm::SmallVector<int64_t, 16> fields;
    mlir::LocationAttr place;
  };
  std::vector<Known> known_;
  size_t next_ = 0; ///< cache entry to replace next

  mlir::MLIRContext *context_;
  std::string file_;
  mlir::StringAttr fileAttr_;
  std::vector<std::pair<std::string, int64_t>> loops_;
  std::vector<std::string> calls_;
  mlir::Attribute frame_;
};

/// The encoded source range. For other locations: the file and line that it has (line 0 if none);
/// for a fused one, its first location.
SourceRange decode(mlir::Location location);
/// The source range of operand `index`, if it is known.
std::optional<SourceRange> argumentPlace(mlir::Location location, unsigned index);
/// A location for a place inside the same frame, for example an argument of a call.
mlir::Location placed(mlir::Location around, const SourceRange &place);

/// " at tied.lnet:10:19, for i = 1"; empty for an unknown location.
std::string atText(mlir::Location location);
/// "for i = 1, t = 3"; empty outside loops.
std::string loopsText(const SourceRange &range);

} // namespace lstmc::sym
