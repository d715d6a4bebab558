// What make-entries says of entries, their heads and results.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace lstmc::passes {

/// UnitAttr on an entry that ends with an update of the parameters.
inline constexpr llvm::StringLiteral kTrainingAttr = "sym.training";
/// On a result of an entry that holds measures, of package::Metric: StringAttr, which kind of head
/// they are of; IntegerAttr, its classes; StringAttr, the result with its scores, where there is
/// one.
inline constexpr llvm::StringLiteral kMetricAttr = "sym.metric", kClassesAttr = "sym.classes",
                                     kScoresAttr = "sym.scores";

} // namespace lstmc::passes
