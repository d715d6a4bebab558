// Values that are known while a graph is built.
#pragma once

#include <optional>

#include "ir/sym/ShapeRelation.h"

namespace lstmc::sym {

/// The number that all elements of a value are, where the ops that make it say so: full, ones and
/// zeros, what only moves them, and arithmetic with them. Nothing elsewhere.
std::optional<double> constantOf(mlir::Value value);

/// E0319 for a length that is known, and longer than `data` has steps on `axis`, or below 0. What
/// comes with data is looked at when it comes.
llvm::LogicalResult lengthWithin(ShapeRelation &relation, mlir::Value length, mlir::Value data,
                                 int64_t axis);

} // namespace lstmc::sym
