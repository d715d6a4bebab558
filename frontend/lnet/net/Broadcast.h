// Two tensors stretched to one shape, as NumPy does for operators.
#pragma once

#include "frontend/lnet/net/Nodes.h"

namespace lstmc::lnet {

/// An operator between two tensors, and where it and they are written.
struct TensorPair {
  Value left, right;
  std::string_view sign; ///< what messages call the operator
  Span span;
  const Expr *leftPlace, *rightPlace;
};

/// Gives the tensor of lower rank leading extents of 1, so that both have one rank. True if extents
/// then differ, so that an op that broadcasts is wanted; false if they are equal or not yet known.
/// E0207 and nothing for extents that do not stretch to each other; W0207 where a vector meets a
/// column and the result is as large as their product.
std::optional<bool> alignRanks(Run &run, Nodes &nodes, TensorPair &pair);

} // namespace lstmc::lnet
