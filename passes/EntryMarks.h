// What make-entries says of entries, their heads and results.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace lstmc::passes {

/// UnitAttr on an entry that ends with an update of the parameters.
inline constexpr llvm::StringLiteral kTrainingAttr = "sym.training";
/// StringAttr on a result of an entry: which metric its numbers are.
inline constexpr llvm::StringLiteral kMetricAttr = "sym.metric";

} // namespace lstmc::passes
