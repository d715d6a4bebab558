// Gradients of element-wise functions of one tensor: operand x, result y, incoming gradient dy.

#include <numbers>

#include "executor/base/ScalarFunctions.h"
#include "ir/sym/Create.h"
#include "ir/sym/gradients/Expression.h"

namespace lstmc::sym {

using E = Expression;

/// Contributes `formula(x, y, dy)` to the first operand.
template <typename Formula>
static llvm::LogicalResult unary(mlir::Operation *op, GradientBuilder &builder, Formula formula) {
  mlir::Value dy = builder.resultGradient(0);
  if (dy && builder.wants(op->getOperand(0)))
    builder.add(op->getOperand(0), formula(E{op->getOperand(0), &builder},
                                           E{op->getResult(0), &builder}, E{dy, &builder})
                                       .value);
  return llvm::success();
}

#define LSTMC_GRADIENT(OP, FORMULA)                                                                \
  llvm::LogicalResult OP::buildGradient(GradientBuilder &builder) {                                \
    return unary(*this, builder,                                                                   \
                 [&]([[maybe_unused]] E x, [[maybe_unused]] E y, E dy) { return FORMULA; });       \
  }

LSTMC_GRADIENT(CopyOp, dy)
LSTMC_GRADIENT(NegativeOp, -dy)
LSTMC_GRADIENT(AbsOp, dy *x.of<SignOp>())
LSTMC_GRADIENT(SquareOp, dy *(x * 2.0))
LSTMC_GRADIENT(ReciprocalOp, -(dy *(y *y)))
LSTMC_GRADIENT(SqrtOp, (dy * 0.5) / y)
LSTMC_GRADIENT(RsqrtOp, dy *((y * y * y) * -0.5))
LSTMC_GRADIENT(CbrtOp, dy / ((y * y) * 3.0))
LSTMC_GRADIENT(RcbrtOp, dy *((y / x) * (-1.0 / 3.0)))
LSTMC_GRADIENT(ExpOp, dy *y)
LSTMC_GRADIENT(Expm1Op, dy *(y + 1.0))
LSTMC_GRADIENT(LogOp, dy / x)
LSTMC_GRADIENT(Log10Op, dy / (x * std::numbers::ln10))
LSTMC_GRADIENT(Log2Op, dy / (x * std::numbers::ln2))
LSTMC_GRADIENT(Log1pOp, dy / (x + 1.0))
LSTMC_GRADIENT(SinOp, dy *x.of<CosOp>())
LSTMC_GRADIENT(CosOp, -(dy *x.of<SinOp>()))
LSTMC_GRADIENT(TanOp, dy *(y *y + 1.0))
LSTMC_GRADIENT(ArcsinOp, dy / (1.0 - x * x).of<SqrtOp>())
LSTMC_GRADIENT(ArccosOp, -(dy / (1.0 - x * x).of<SqrtOp>()))
LSTMC_GRADIENT(ArctanOp, dy / (x * x + 1.0))
LSTMC_GRADIENT(SinhOp, dy *x.of<CoshOp>())
LSTMC_GRADIENT(CoshOp, dy *x.of<SinhOp>())
LSTMC_GRADIENT(TanhOp, dy * (1.0 - y * y))
LSTMC_GRADIENT(ArcsinhOp, dy / (x * x + 1.0).of<SqrtOp>())
LSTMC_GRADIENT(ArccoshOp, dy / (x * x - 1.0).of<SqrtOp>())
LSTMC_GRADIENT(ArctanhOp, dy / (1.0 - x * x))
LSTMC_GRADIENT(DegreesOp, dy * (180.0 / std::numbers::pi))
LSTMC_GRADIENT(RadiansOp, dy *(std::numbers::pi / 180.0))
LSTMC_GRADIENT(GammaOp, dy *(y *x.of<DigammaOp>()))
LSTMC_GRADIENT(GammalnOp, dy *x.of<DigammaOp>())
LSTMC_GRADIENT(DigammaOp, dy *x.of<TrigammaOp>())
LSTMC_GRADIENT(ErfOp, dy * ((-(x * x)).of<ExpOp>() * (2.0 * std::numbers::inv_sqrtpi)))
LSTMC_GRADIENT(ErfinvOp, dy *((y * y).of<ExpOp>() * (0.5 / std::numbers::inv_sqrtpi)))
LSTMC_GRADIENT(ReluOp, dy *(x > 0.0))
LSTMC_GRADIENT(SigmoidOp, dy *(y * (1.0 - y)))
LSTMC_GRADIENT(SoftsignOp, dy / (x.of<AbsOp>() + 1.0).of<SquareOp>())
LSTMC_GRADIENT(SoftplusOp, dy *x.of<SigmoidOp>())
LSTMC_GRADIENT(LogSigmoidOp, dy * (-x).of<SigmoidOp>())
/// s + y (1 - s) with s the sigmoid.
LSTMC_GRADIENT(SiluOp, dy *([&] {
                 E s = x.of<SigmoidOp>();
                 return s + y * (1.0 - s);
               }()))
/// t + x (1 - t^2) s with t = tanh(softplus(x)) and s the sigmoid.
static E slopeOfMish(E x) {
  E t = x.of<SoftplusOp>().of<TanhOp>();
  return t + x * (1.0 - t * t) * x.of<SigmoidOp>();
}
LSTMC_GRADIENT(MishOp, dy *slopeOfMish(x))
/// Phi(x) + x exp(-x^2 / 2) / sqrt(2 pi). Phi(x) is y / x, which keeps its digits below 0, and 1/2
/// at 0.
LSTMC_GRADIENT(GeluOp, dy *([&] {
                 E zero = x.withScalar<EqualScalarOp>(0);
                 E below = y / (x + zero) + zero * 0.5;
                 double scale = std::numbers::inv_sqrtpi / std::numbers::sqrt2;
                 return below + x * ((x * x * -0.5).of<ExpOp>() * scale);
               }()))
LSTMC_GRADIENT(ClipOp,
               dy *((x >= getAMin().convertToDouble()) * (x <= getAMax().convertToDouble())))
LSTMC_GRADIENT(HardSigmoidOp, dy *(((y > 0.0) * (y < 1.0)) * getAlpha().convertToDouble()))
/// The identity: make-entries has replaced a dropout that is enabled by a product with a mask.
LSTMC_GRADIENT(DropoutOp, dy)

/// s^2 x if abs(x) < 1/s^2, else the sign of x.
LSTMC_GRADIENT(SmoothL1Op, dy *([&] {
                 double scalar = getScalar().convertToDouble(), square = scalar * scalar;
                 E inside = x.of<AbsOp>() < 1.0 / square;
                 return inside * (x * square) + (1.0 - inside) * x.of<SignOp>();
               }()))

llvm::LogicalResult ActivationOp::buildGradient(GradientBuilder &builder) {
  return unary(*this, builder, [&](E x, E y, E dy) {
    llvm::StringRef type = getActType();
    return type == "relu"          ? dy * (x > 0.0)
           : type == "sigmoid"     ? dy * (y * (1.0 - y))
           : type == "tanh"        ? dy * (1.0 - y * y)
           : type == "softrelu"    ? dy * x.of<SigmoidOp>()
           : type == "log_sigmoid" ? dy * (-x).of<SigmoidOp>()
           : type == "mish"        ? dy * slopeOfMish(x)
                                   : dy / (x.of<AbsOp>() + 1.0).of<SquareOp>();
  });
}

llvm::LogicalResult CastOp::buildGradient(GradientBuilder &builder) {
  mlir::Value dy = builder.resultGradient(0);
  auto type = llvm::cast<mlir::TensorType>(getData().getType());
  if (dy && builder.wants(getData()) && llvm::isa<mlir::FloatType>(type.getElementType()))
    builder.add(getData(), createCast(builder, getLoc(), dy, type.getElementType()));
  return llvm::success();
}

// With s the number `scalar`.

#define LSTMC_SCALAR_GRADIENT(OP, FORMULA)                                                         \
  llvm::LogicalResult OP::buildGradient(GradientBuilder &builder) {                                \
    double s = getScalar().convertToDouble();                                                      \
    return unary(*this, builder,                                                                   \
                 [&]([[maybe_unused]] E x, [[maybe_unused]] E y, E dy) { return FORMULA; });       \
  }

LSTMC_SCALAR_GRADIENT(PlusScalarOp, ((void)s, dy))
LSTMC_SCALAR_GRADIENT(MinusScalarOp, ((void)s, dy))
LSTMC_SCALAR_GRADIENT(RminusScalarOp, ((void)s, -dy))
LSTMC_SCALAR_GRADIENT(MulScalarOp, dy *s)
LSTMC_SCALAR_GRADIENT(DivScalarOp, dy / s)
LSTMC_SCALAR_GRADIENT(RdivScalarOp, ((void)s, -(dy *(y / x))))
LSTMC_SCALAR_GRADIENT(ModScalarOp, ((void)s, dy))
LSTMC_SCALAR_GRADIENT(RmodScalarOp, -(dy *x.withScalar<RdivScalarOp>(s).of<FloorOp>()))
LSTMC_SCALAR_GRADIENT(PowerScalarOp, dy *(x.withScalar<PowerScalarOp>(s - 1) * s))
LSTMC_SCALAR_GRADIENT(RpowerScalarOp, dy *(y *functionInF64(ScalarOp::Log, s)))
LSTMC_SCALAR_GRADIENT(MaximumScalarOp, dy *(x >= s))
LSTMC_SCALAR_GRADIENT(MinimumScalarOp, dy *(x <= s))
LSTMC_SCALAR_GRADIENT(HypotScalarOp, ((void)s, dy *(x / y)))

} // namespace lstmc::sym
