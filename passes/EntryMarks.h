// Attributes that make-entries sets on entries and their results.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace lstmc::passes {

/// UnitAttr on an entry that ends with an update of the parameters.
inline constexpr llvm::StringLiteral kTrainingAttr = "sym.training";
/// On a result with the measures of a loss head (package::Metric): StringAttr, the kind of head;
/// IntegerAttr, its number of classes; StringAttr, the result with its scores, if there is one.
inline constexpr llvm::StringLiteral kMetricAttr = "sym.metric", kClassesAttr = "sym.classes",
                                     kScoresAttr = "sym.scores";

} // namespace lstmc::passes
