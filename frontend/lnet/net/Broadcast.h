// Broadcasting of the two tensors of an operator, as in NumPy.
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

/// Adds leading extents of 1 to the tensor of lower rank. True if the extents then differ, so that
/// the op must broadcast; false if they are equal or not known yet. E0207 and nullopt if they do
/// not broadcast; W0207 if a vector is combined with a column and the result has the size of their
/// product.
std::optional<bool> alignRanks(Run &run, Nodes &nodes, TensorPair &pair);

} // namespace lstmc::lnet
