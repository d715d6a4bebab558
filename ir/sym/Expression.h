// Arithmetic operators on tensors: code that emits the ops of a formula reads like the formula.
#pragma once

#include "ir/sym/Attributes.h"
#include "ir/sym/SymOps.h"

namespace lstmc::sym {

/// A tensor in a formula; operators add ops of the same shape and type.
struct Expression {
  mlir::Value value;
  mlir::OpBuilder *builder;

  template <typename Op, typename... Args> Expression make(Args &&...args) const {
    return {builder->create<Op>(value.getLoc(), value.getType(), std::forward<Args>(args)...)
                .getResult(),
            builder};
  }
  template <typename Op> Expression of() const { return make<Op>(value); }
  template <typename Op> Expression with(Expression other) const {
    return make<Op>(value, other.value);
  }
  template <typename Op> Expression withScalar(double scalar) const {
    return make<Op>(value, builder->getF64FloatAttr(scalar), /*is_int=*/builder->getBoolAttr(true));
  }
};

inline Expression operator+(Expression a, Expression b) { return a.with<ElemwiseAddOp>(b); }
inline Expression operator-(Expression a, Expression b) { return a.with<ElemwiseSubOp>(b); }
inline Expression operator*(Expression a, Expression b) { return a.with<ElemwiseMulOp>(b); }
inline Expression operator/(Expression a, Expression b) { return a.with<ElemwiseDivOp>(b); }
inline Expression operator+(Expression a, double s) { return a.withScalar<PlusScalarOp>(s); }
inline Expression operator-(Expression a, double s) { return a.withScalar<MinusScalarOp>(s); }
inline Expression operator-(double s, Expression a) { return a.withScalar<RminusScalarOp>(s); }
inline Expression operator*(Expression a, double s) { return a.withScalar<MulScalarOp>(s); }
inline Expression operator/(Expression a, double s) { return a.withScalar<DivScalarOp>(s); }
inline Expression operator-(Expression a) { return a.of<NegativeOp>(); }

/// Comparisons return 0 or 1 in the type of their operands.
inline Expression operator>(Expression a, double s) { return a.withScalar<GreaterScalarOp>(s); }
inline Expression operator<(Expression a, double s) { return a.withScalar<LesserScalarOp>(s); }
inline Expression operator>=(Expression a, double s) {
  return a.withScalar<GreaterEqualScalarOp>(s);
}
inline Expression operator<=(Expression a, double s) {
  return a.withScalar<LesserEqualScalarOp>(s);
}

} // namespace lstmc::sym
