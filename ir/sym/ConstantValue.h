// Values that are known while the graph is built.
#pragma once

#include <optional>

#include "ir/sym/ShapeRelation.h"

namespace lstmc::sym {

/// The number that all elements of the value equal, derived from its defining ops: full, ones,
/// zeros, ops that only move elements, arithmetic on these and comparisons of whole numbers.
/// Nullopt if it cannot be derived.
std::optional<double> constantOf(mlir::Value value);

/// Reports E0319 for a constant length that is negative or greater than the number of steps of
/// `data` on `axis`. Lengths that come with the data are checked when the data are read.
llvm::LogicalResult lengthWithin(ShapeRelation &relation, mlir::Value length, mlir::Value data,
                                 int64_t axis);

} // namespace lstmc::sym
