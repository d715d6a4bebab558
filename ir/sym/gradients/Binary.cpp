// Gradients of element-wise functions of two tensors or more. a and b are the operands, y the
// result, dy the incoming gradient.

#include "ir/sym/gradients/Expression.h"

namespace lstmc::sym {

using E = Expression;

/// `value` broadcast to the shape of `like`.
static E stretched(mlir::Value value, mlir::Value like, GradientBuilder &builder) {
  return {builder.sameWhole(value, like) ? value
                                         : broadcastLike(builder, value.getLoc(), value, like),
          &builder};
}

/// Contributes `da` and `db` to the two operands. If the op broadcasts operands, each contribution
/// is first summed over the broadcast axes.
template <bool kStretches, typename First, typename Second>
static llvm::LogicalResult binary(mlir::Operation *op, GradientBuilder &builder, First first,
                                  Second second) {
  mlir::Value dy = builder.resultGradient(0), result = op->getResult(0);
  if (!dy)
    return llvm::success();
  E y{result, &builder}, flow{dy, &builder};
  auto contribute = [&](unsigned index, auto formula) {
    mlir::Value operand = op->getOperand(index);
    if (!builder.wants(operand))
      return;
    auto term = [&](unsigned i) {
      return kStretches ? stretched(op->getOperand(i), result, builder)
                        : E{op->getOperand(i), &builder};
    };
    E a = term(0), b = term(1);
    mlir::Value gradient = formula(a, b, y, flow).value;
    if (kStretches && !builder.sameWhole(operand, result))
      gradient = builder.create<ReduceToOp>(op->getLoc(), operand.getType(), gradient);
    builder.add(operand, gradient);
  };
  contribute(0, first);
  contribute(1, second);
  return llvm::success();
}

#define LSTMC_GRADIENTS(OP, STRETCHES, FIRST, SECOND)                                              \
  llvm::LogicalResult OP::buildGradient(GradientBuilder &builder) {                                \
    return binary<STRETCHES>(                                                                      \
        *this, builder,                                                                            \
        []([[maybe_unused]] E a, [[maybe_unused]] E b, [[maybe_unused]] E y, E dy) {               \
          return FIRST;                                                                            \
        },                                                                                         \
        []([[maybe_unused]] E a, [[maybe_unused]] E b, [[maybe_unused]] E y, E dy) {               \
          return SECOND;                                                                           \
        });                                                                                        \
  }
/// Defines the gradient of the op on equal shapes and of the one that broadcasts.
#define LSTMC_BOTH(SAME, STRETCHING, FIRST, SECOND)                                                \
  LSTMC_GRADIENTS(SAME, false, FIRST, SECOND)                                                      \
  LSTMC_GRADIENTS(STRETCHING, true, FIRST, SECOND)

LSTMC_BOTH(ElemwiseAddOp, BroadcastAddOp, dy, dy)
LSTMC_BOTH(ElemwiseSubOp, BroadcastSubOp, dy, -dy)
LSTMC_BOTH(ElemwiseMulOp, BroadcastMulOp, dy *b, dy *a)
LSTMC_BOTH(ElemwiseDivOp, BroadcastDivOp, dy / b, -(dy *(y / b)))
LSTMC_BOTH(ModOp, BroadcastModOp, dy, -(dy *(a / b).of<FloorOp>()))
LSTMC_BOTH(PowerOp, BroadcastPowerOp, dy *(b *a.with<PowerOp>(b - 1.0)), dy *(y *a.of<LogOp>()))
LSTMC_BOTH(MaximumOp, BroadcastMaximumOp, dy *a.with<GreaterEqualOp>(b), dy *a.with<LesserOp>(b))
LSTMC_BOTH(MinimumOp, BroadcastMinimumOp, dy *a.with<LesserEqualOp>(b), dy *a.with<GreaterOp>(b))
LSTMC_BOTH(HypotOp, BroadcastHypotOp, dy *(a / y), dy *(b / y))

llvm::LogicalResult AddNOp::buildGradient(GradientBuilder &builder) {
  if (mlir::Value dy = builder.resultGradient(0))
    for (mlir::Value operand : llvm::reverse(getArgs()))
      builder.add(operand, dy);
  return llvm::success();
}

llvm::LogicalResult WhereOp::buildGradient(GradientBuilder &builder) {
  mlir::Value dy = builder.resultGradient(0);
  if (!dy)
    return llvm::success();
  mlir::Type type = dy.getType();
  mlir::Value zero = builder.create<ZerosLikeOp>(getLoc(), type, dy);
  if (builder.wants(getX()))
    builder.add(getX(), builder.create<WhereOp>(getLoc(), type, getCondition(), dy, zero));
  if (builder.wants(getY()))
    builder.add(getY(), builder.create<WhereOp>(getLoc(), type, getCondition(), zero, dy));
  return llvm::success();
}

} // namespace lstmc::sym
