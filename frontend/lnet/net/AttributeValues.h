// Values of the language as attributes of ops.
#pragma once

#include "frontend/lnet/evaluation/Run.h"

namespace lstmc::lnet {

/// A value as an attribute takes it. Nothing after an error: E0204 for a value of another kind,
/// E0206, E0314 and E0319 for extents and lengths out of bounds.
std::optional<symbol::AttributeValue> attributeValue(Run &run, const symbol::OpSignature &op,
                                                     const symbol::OpAttribute &record,
                                                     const Value &value, const Expr *place);

/// _zeros, _ones, _full: their `shape` may leave extents open.
bool isFill(const symbol::OpSignature &op);

} // namespace lstmc::lnet
