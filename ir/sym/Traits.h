// Traits of sym ops.
#pragma once

#include "mlir/IR/OpDefinition.h"

namespace lstmc::sym {

/// Checks that the op's types satisfy its shape rule; reports the first relation that does not
/// hold.
llvm::LogicalResult verifyShapes(mlir::Operation *op);

/// Gradients do not propagate through the op, because they are 0 or undefined.
template <typename Op> class NoGradient : public mlir::OpTrait::TraitBase<Op, NoGradient> {};

/// Operands of lower rank get leading axes of extent 1 from whoever makes the op, as MXNet's and
/// NumPy's broadcasting aligns axes at the last one. The op itself takes operands of one rank.
template <typename Op> class AlignsRanks : public mlir::OpTrait::TraitBase<Op, AlignsRanks> {};

/// The op is verified by its own shape rule, so that each constraint is stated once for inference
/// and verifier.
template <typename Op> class ShapesHold : public mlir::OpTrait::TraitBase<Op, ShapesHold> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) { return verifyShapes(op); }
};

} // namespace lstmc::sym
