// Methods and attributes of a tensor: x.reshape(..), x.T, x.shape.
#pragma once

#include "frontend/lnet/net/Extents.h"
#include "frontend/lnet/net/Nodes.h"

namespace lstmc::lnet {

class TensorMethods {
public:
  TensorMethods(Run &run, Nodes &nodes, const DimNames &dims)
      : run_(run), nodes_(nodes), dims_(dims) {}

  /// `x.NAME(..)`: the op of that name, with x its first input, as MXNet's Symbol and NumPy have
  /// it.
  Value call(const Value &tensor, const AttributeExpr *callee, Arguments &arguments);
  /// `x.NAME`: shape, dtype, ndim, size, T.
  Value attribute(const Value &tensor, const AttributeExpr *expr);
  /// `len(x)`: the extent of the first axis.
  Value length(const Value &tensor, const Expr *place);

private:
  /// The extents, all known; nullopt after E0211.
  std::optional<std::vector<Value>> extents(const symbol::Symbol &symbol, Span span);
  Value refuse(const AttributeExpr *expr, std::string_view what);

  Run &run_;
  Nodes &nodes_;
  const DimNames &dims_;
};

} // namespace lstmc::lnet
