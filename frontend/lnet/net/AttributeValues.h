// Values of the language as attributes of ops.
#pragma once

#include "frontend/lnet/evaluation/Run.h"

namespace lstmc::lnet {

/// A value as an attribute takes it. Nothing after an error: E0204 for a value of another kind, or
/// one of the limits.
std::optional<symbol::AttributeValue> attributeValue(Run &run, const symbol::OpSignature &op,
                                                     const symbol::OpAttribute &record,
                                                     const Value &value, const Expr *place);

/// _zeros, _ones, _full: their `shape` may leave extents open.
bool isFill(const symbol::OpSignature &op);

} // namespace lstmc::lnet
