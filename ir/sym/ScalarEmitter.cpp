#include "ir/sym/ScalarEmitter.h"

#include "llvm/ADT/ArrayRef.h"

#include "ir/sym/SymOps.h"

using namespace mlir;

namespace lstmc::sym {

Value ScalarEmitter::apply(ScalarOp op, ValueRange operands) {
  const ScalarRecord &record = kScalarRecords[int(op)];
  assert(int(operands.size()) == record.operands && record.result != ScalarResult::From);
  Type type =
      record.result == ScalarResult::Bool ? builder_.getI1Type() : operands.back().getType();
  return builder_.create<ApplyScalarOp>(location_, type, op, operands);
}

Value ScalarEmitter::number(Type type, double value) {
  if (type.isInteger())
    value = std::trunc(value);
  return builder_.create<ApplyScalarOp>(location_, type, ScalarOp::Constant, ValueRange(), value);
}

Value ScalarEmitter::cast(Value value, Type type) {
  if (value.getType() == type)
    return value;
  return builder_.create<ApplyScalarOp>(location_, type, ScalarOp::Cast, value);
}

namespace {

// With Phi the distribution of a normal number: Phi(x) = 1/2 + x N(x^2) for |x| < 1, and
// Phi(-a) = e^(-a^2 / 2) F(t) / (1 + a), t = (a - 4) / (a + 4), from a = 1 on. N and F are
// polynomials through the Chebyshev nodes, relative errors of Phi 2^-29 in f32 (up to 14.5, where
// e^(-a^2 / 2) is 0) and 2^-58 in f64 (up to 40).
constexpr double kNear32[] = {0x1.988454p-2,   -0x1.105832p-4, 0x1.46ce58p-7,
                              -0x1.36fe32p-10, 0x1.dc102ap-14, -0x1.010b86p-17};
constexpr double kFar32[] = {0x1.e361eap-2, -0x1.8c18f2p-4, 0x1.cabe4cp-7,  0x1.d495dep-6,
                             -0x1.07c8cp-5, 0x1.25e7e4p-6,  -0x1.4689acp-8, -0x1.3977e8p-12,
                             0x1.486b7p-11, -0x1.123506p-14};
constexpr double kNear64[] = {
    0x1.9884533d43651p-2,  -0x1.1058377e2cedfp-4,  0x1.46d0429769010p-7,  -0x1.37403f6b93143p-10,
    0x1.e42b0d4b14d39p-14, -0x1.3ce8f9bacee1ep-17, 0x1.6589f17ce2693p-21, -0x1.621cc567a99f7p-25,
    0x1.380b151d37375p-29, -0x1.e69d43072e1f8p-34, 0x1.1eb48cc19cdecp-38};
constexpr double kFar64[] = {
    0x1.e361ea6fba141p-2,  -0x1.8c18f2086e349p-4,  0x1.cabd72a60f76bp-7,   0x1.d4969f10dfdaap-6,
    -0x1.07c3c2582a0c2p-5, 0x1.25dd720607b53p-6,   -0x1.47d5fc7651035p-8,  -0x1.2b7f5e230371fp-12,
    0x1.6c5384045af71p-11, -0x1.8c11aca3bd88bp-14, -0x1.707bfd26a8f31p-14, 0x1.6483abb66bad5p-16,
    0x1.c94d19202657dp-17, -0x1.cca90618a702fp-19, -0x1.5f83651707b73p-19, 0x1.b48b273871593p-22,
    0x1.2f34f73d0bcb0p-21, -0x1.d76429255147bp-28, -0x1.0dcbd7f548484p-23, -0x1.8321ec87cf934p-28,
    0x1.97d13b36514bfp-26, -0x1.f5def0edf01dfp-29};

} // namespace

/// x Phi(x), with an error below 3.6 ULP (tests/frontend/python/test_accuracy.py): 1 + erf would
/// lose all digits below 0, and a^2 has the rest of its rounding added.
Value ScalarEmitter::gelu(Value x) {
  Type type = x.getType();
  const bool wide = type.isF64();
  auto n = [&](double value) { return number(type, value); };
  auto fma = [&](Value a, Value b, Value c) { return apply(ScalarOp::Fma, {a, b, c}); };
  auto polynomial = [&](llvm::ArrayRef<double> terms, Value at) {
    Value sum = n(terms.back());
    for (double term : llvm::reverse(terms.drop_back()))
      sum = fma(sum, at, n(term));
    return sum;
  };
  Value low = apply(ScalarOp::Max, {x, n(-40)});
  Value a = apply(ScalarOp::Min, {apply(ScalarOp::Abs, low), n(40)});
  Value square = mul(a, a), rest = fma(a, a, apply(ScalarOp::Neg, square));
  Value power = apply(ScalarOp::Exp, mul(square, n(-0.5)));
  Value t = div(sub(a, n(4)), add(a, n(4)));
  Value factor = div(wide ? polynomial(kFar64, t) : polynomial(kFar32, t), add(a, n(1)));
  factor = fma(mul(factor, rest), n(-0.5), factor);
  Value below = mul(mul(low, factor), power); // this order: the power alone may be tiny
  Value above = mul(x, sub(n(1), mul(factor, power)));
  Value near =
      mul(x, fma(x, wide ? polynomial(kNear64, square) : polynomial(kNear32, square), n(0.5)));
  Value far = select(apply(ScalarOp::Less, {x, n(0)}), below, above);
  return select(apply(ScalarOp::Less, {a, n(1)}), near, far);
}

} // namespace lstmc::sym
