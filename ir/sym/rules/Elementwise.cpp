// Shapes, batch position, scalar form and cost of the ops in ElementwiseOps.td outside the
// families.
#include <numbers>

#include "ir/sym/RuleSupport.h"

using namespace mlir;

namespace lstmc::sym {

using Positions = ArrayRef<BatchPosition>;

//===---- silu and mish -----------------------------------------------------------------------===//

/// x f(x), where f(x) equals e^x to working precision, except below -80: there e^x becomes
/// denormal, which counts as 0, before x e^x does; the product is computed as x e^(x/2) e^(x/2).
static Value timesFunction(ScalarEmitter &e, Value x, Value function) {
  Type type = x.getType();
  Value low = e.apply(ScalarOp::Max, {x, e.number(type, -1000)}); // infinity times 0 is NaN
  Value root = e.apply(ScalarOp::Exp, e.mul(low, e.number(type, 0.5)));
  return e.select(e.apply(ScalarOp::Less, {x, e.number(type, -80)}), e.mul(e.mul(low, root), root),
                  e.mul(x, function));
}
static Value silu(ScalarEmitter &e, Value x) {
  return timesFunction(e, x, e.apply(ScalarOp::Sigmoid, x));
}
static Value mish(ScalarEmitter &e, Value x) {
  return timesFunction(e, x, e.apply(ScalarOp::Tanh, e.apply(ScalarOp::SoftRelu, x)));
}

LogicalResult SiluOp::relateShapes(ShapeRelation &relation) {
  return relateEqual(relation, *this, Numbers::Float);
}
BatchPosition SiluOp::batchOfResult(unsigned, Positions operands) { return operands[0]; }
int64_t SiluOp::flops() { return elementwiseFlops(*this); }
Value SiluOp::emitScalar(OpBuilder &builder, ValueRange element) {
  ScalarEmitter e(builder, getLoc());
  return silu(e, element[0]);
}

LogicalResult MishOp::relateShapes(ShapeRelation &relation) {
  return relateEqual(relation, *this, Numbers::Float);
}
BatchPosition MishOp::batchOfResult(unsigned, Positions operands) { return operands[0]; }
int64_t MishOp::flops() { return elementwiseFlops(*this); }
Value MishOp::emitScalar(OpBuilder &builder, ValueRange element) {
  ScalarEmitter e(builder, getLoc());
  return mish(e, element[0]);
}

//===---- trigamma ----------------------------------------------------------------------------===//

LogicalResult TrigammaOp::relateShapes(ShapeRelation &relation) {
  return relateEqual(relation, *this, Numbers::Float);
}
BatchPosition TrigammaOp::batchOfResult(unsigned, Positions operands) { return operands[0]; }
int64_t TrigammaOp::flops() { return product({80, elementwiseFlops(*this)}); }

/// In f64. psi'(x) = 1/x^2 + ... + 1/(x + 11)^2 + psi'(x + 12), the last by the asymptotic series,
/// whose first omitted term is 2e-20; below 0 psi'(x) = (pi / sin(pi x))^2 - psi'(1 - x).
///
/// Source: Abramowitz and Stegun, "Handbook of Mathematical Functions", 6.4.6, 6.4.7 and 6.4.12.
Value TrigammaOp::emitScalar(OpBuilder &builder, ValueRange element) {
  ScalarEmitter e(builder, getLoc());
  Type wide = builder.getF64Type();
  Value x = e.cast(element[0], wide);
  auto n = [&](double value) { return e.number(wide, value); };
  Value below = e.apply(ScalarOp::Less, {x, n(0)});
  Value positive = e.select(below, e.sub(n(1), x), x), sum = n(0);
  for (int k = 0; k < 12; ++k) {
    Value term = e.div(n(1), e.add(positive, n(k)));
    sum = e.add(sum, e.mul(term, term));
  }
  // B_2n, n = 9 to 1
  constexpr double kBernoulli[] = {43867.0 / 798, -3617.0 / 510, 7.0 / 6,   -691.0 / 2730, 5.0 / 66,
                                   -1.0 / 30,     1.0 / 42,      -1.0 / 30, 1.0 / 6};
  Value r = e.div(n(1), e.add(positive, n(12))), square = e.mul(r, r), series = n(0);
  for (double number : kBernoulli)
    series = e.apply(ScalarOp::Fma, {series, square, n(number)});
  Value rest = e.mul(e.mul(r, square), series);
  Value psi = e.add(sum, e.add(r, e.add(e.mul(square, n(0.5)), rest)));
  Value fraction = e.sub(x, e.apply(ScalarOp::Rint, x));
  Value ratio =
      e.div(n(std::numbers::pi), e.apply(ScalarOp::Sin, e.mul(fraction, n(std::numbers::pi))));
  return e.cast(e.select(below, e.sub(e.mul(ratio, ratio), psi), psi), element[0].getType());
}

//===---- Activation --------------------------------------------------------------------------===//

LogicalResult ActivationOp::relateShapes(ShapeRelation &relation) {
  return relateEqual(relation, *this, Numbers::Float);
}
BatchPosition ActivationOp::batchOfResult(unsigned, Positions operands) { return operands[0]; }
int64_t ActivationOp::flops() { return elementwiseFlops(*this); }

Value ActivationOp::emitScalar(OpBuilder &builder, ValueRange element) {
  ScalarEmitter e(builder, getLoc());
  Value x = element[0];
  StringRef type = getActType();
  if (type == "relu")
    return e.relu(x);
  if (type == "sigmoid")
    return e.apply(ScalarOp::Sigmoid, x);
  if (type == "tanh")
    return e.apply(ScalarOp::Tanh, x);
  if (type == "softrelu")
    return e.apply(ScalarOp::SoftRelu, x);
  if (type == "log_sigmoid")
    return e.apply(ScalarOp::Neg, e.apply(ScalarOp::SoftRelu, e.apply(ScalarOp::Neg, x)));
  if (type == "mish")
    return mish(e, x);
  return e.softsign(x);
}

//===---- hard_sigmoid ------------------------------------------------------------------------===//

LogicalResult HardSigmoidOp::relateShapes(ShapeRelation &relation) {
  return relateEqual(relation, *this, Numbers::Float);
}
BatchPosition HardSigmoidOp::batchOfResult(unsigned, Positions operands) { return operands[0]; }
int64_t HardSigmoidOp::flops() { return product({4, elementwiseFlops(*this)}); }

Value HardSigmoidOp::emitScalar(OpBuilder &builder, ValueRange element) {
  ScalarEmitter e(builder, getLoc());
  Type type = element[0].getType();
  Value line = e.add(e.mul(element[0], e.number(type, getAlpha().convertToDouble())),
                     e.number(type, getBeta().convertToDouble()));
  return e.apply(ScalarOp::Max,
                 {e.apply(ScalarOp::Min, {line, e.number(type, 1)}), e.number(type, 0)});
}

//===---- smooth_l1 ---------------------------------------------------------------------------===//

LogicalResult SmoothL1Op::relateShapes(ShapeRelation &relation) {
  return relateEqual(relation, *this, Numbers::Float);
}
BatchPosition SmoothL1Op::batchOfResult(unsigned, Positions operands) { return operands[0]; }
int64_t SmoothL1Op::flops() { return product({6, elementwiseFlops(*this)}); }

Value SmoothL1Op::emitScalar(OpBuilder &builder, ValueRange element) {
  ScalarEmitter e(builder, getLoc());
  Value x = element[0];
  Type type = x.getType();
  double scale = getScalar().convertToDouble();
  Value size = e.apply(ScalarOp::Abs, x);
  Value scaled = e.mul(x, e.number(type, scale));
  Value square = e.mul(e.number(type, 0.5), e.mul(scaled, scaled));
  Value line = e.sub(size, e.number(type, 0.5 / (scale * scale)));
  return e.select(e.apply(ScalarOp::Less, {size, e.number(type, 1 / (scale * scale))}), square,
                  line);
}

//===---- clip --------------------------------------------------------------------------------===//

LogicalResult ClipOp::relateShapes(ShapeRelation &relation) {
  return relateEqual(relation, *this, Numbers::Any);
}
BatchPosition ClipOp::batchOfResult(unsigned, Positions operands) { return operands[0]; }
int64_t ClipOp::flops() { return product({2, elementwiseFlops(*this)}); }

Value ClipOp::emitScalar(OpBuilder &builder, ValueRange element) {
  ScalarEmitter e(builder, getLoc());
  Type type = element[0].getType();
  Value above = e.apply(ScalarOp::Max, {element[0], e.number(type, getAMin().convertToDouble())});
  return e.apply(ScalarOp::Min, {above, e.number(type, getAMax().convertToDouble())});
}

//===---- Cast --------------------------------------------------------------------------------===//

LogicalResult CastOp::relateShapes(ShapeRelation &relation) {
  if (failed(relation.sameShape(getData(), getOutput())))
    return failure();
  return relation.fixType(getOutput(), elementType(getContext(), getDtype()), "dtype");
}
BatchPosition CastOp::batchOfResult(unsigned, Positions operands) { return operands[0]; }
int64_t CastOp::flops() { return elementwiseFlops(*this); }

Value CastOp::emitScalar(OpBuilder &builder, ValueRange element) {
  return ScalarEmitter(builder, getLoc())
      .cast(element[0], computeType(getOutput().getType().getElementType()));
}

//===---- Dropout -----------------------------------------------------------------------------===//

LogicalResult DropoutOp::relateShapes(ShapeRelation &relation) {
  // dropout:probability
  double p = getP().convertToDouble();
  if (!(p >= 0 && p < 1))
    return relation.refuse(ErrorCode::E0319)
           << "p is " << fmt::format("{}", p) << ", wants 0 <= p < 1, the share that is dropped";
  // dropout:axes
  if (relation.ranked(getData()) && failed(axesOf(relation, getData(), getAxes(), "axes")))
    return failure();
  return relateEqual(relation, *this, Numbers::Float);
}
BatchPosition DropoutOp::batchOfResult(unsigned, Positions operands) { return operands[0]; }
int64_t DropoutOp::flops() { return elementwiseFlops(*this); }
Value DropoutOp::emitScalar(OpBuilder &, ValueRange element) { return element[0]; }

//===---- add_n -------------------------------------------------------------------------------===//

LogicalResult AddNOp::relateShapes(ShapeRelation &relation) {
  // add_n:count
  if (getArgs().empty())
    return relation.refuse(ErrorCode::E0205) << "wants at least 1 input, got 0";
  return relateEqual(relation, *this, Numbers::Any);
}
BatchPosition AddNOp::batchOfResult(unsigned, Positions operands) { return firstBatch(operands); }
int64_t AddNOp::flops() { return elementwiseFlops(*this); }

Value AddNOp::emitScalar(OpBuilder &builder, ValueRange element) {
  ScalarEmitter e(builder, getLoc());
  Value sum = element[0];
  for (Value x : element.drop_front())
    sum = e.add(sum, x);
  return sum;
}

//===---- where -------------------------------------------------------------------------------===//

LogicalResult WhereOp::relateShapes(ShapeRelation &relation) {
  for (int round = 0; round < 2; ++round)
    for (Value value : {getY(), getOutput()})
      if (failed(relation.sameType(getX(), value)) || failed(relation.sameShape(getX(), value)))
        return failure();
  // where:condition-shape
  Value condition = getCondition(), x = getX();
  if (!relation.ranked(condition) || !relation.ranked(x) || relation.rank(condition) != 1)
    return relation.sameShape(condition, x);
  return relation.equal(condition, 0, x, 0, "rows");
}
BatchPosition WhereOp::batchOfResult(unsigned, Positions operands) { return firstBatch(operands); }
int64_t WhereOp::flops() { return elementsOf(getOutput()); }

Value WhereOp::emitScalar(OpBuilder &builder, ValueRange element) {
  ScalarEmitter e(builder, getLoc());
  return e.select(e.isNonzero(element[0]), element[1], element[2]);
}

} // namespace lstmc::sym
