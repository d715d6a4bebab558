// Traits of sym ops.
#pragma once

#include "mlir/IR/OpDefinition.h"

namespace lstmc::sym {

/// The op's types satisfy its shape rule; reports the first relation that does not hold.
llvm::LogicalResult verifyShapes(mlir::Operation *op);

/// Nothing flows back through the op: its gradient is 0 or means nothing.
template <typename Op> class NoGradient : public mlir::OpTrait::TraitBase<Op, NoGradient> {};

/// Verified by the op's own shape rule, which states each constraint once for inference and
/// verifier alike.
template <typename Op> class ShapesHold : public mlir::OpTrait::TraitBase<Op, ShapesHold> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) { return verifyShapes(op); }
};

} // namespace lstmc::sym
