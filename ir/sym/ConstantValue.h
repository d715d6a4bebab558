// Values that are known while the graph is built.
#pragma once

#include <optional>

#include "ir/sym/ShapeRelation.h"

namespace lstmc::sym {

/// The number that every element of the value has, if that follows from the ops that make it: full,
/// ones, zeros, ops that only move elements, and arithmetic on these. Else nothing.
std::optional<double> constantOf(mlir::Value value);

/// Reports E0319 for a constant length that is negative or greater than the number of steps of
/// `data` on `axis`. Lengths that come with the data are checked when the data are read.
llvm::LogicalResult lengthWithin(ShapeRelation &relation, mlir::Value length, mlir::Value data,
                                 int64_t axis);

} // namespace lstmc::sym
