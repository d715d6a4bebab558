// Expressions to values.
#pragma once

#include "frontend/lnet/evaluation/Run.h"

namespace lstmc::lnet {

class Interpreter;

class Expressions {
public:
  explicit Expressions(Interpreter &interpreter);

  Value evaluate(const Expr *expr);
  /// `left op right`, of tensors too.
  Value binary(TokenKind op, const Value &left, const Value &right, Span opSpan,
               const Expr *leftPlace, const Expr *rightPlace);

private:
  Value string(const StringExpr *expr);
  Value sequence(const SequenceExpr *expr);
  Value dict(const DictExpr *expr);
  Value comprehension(const ComprehensionExpr *expr);
  Value unary(const UnaryExpr *expr);
  Value compareAll(const CompareExpr *expr);
  Value compare(const CompareTerm &term, const Value &left, const Value &right,
                const Expr *leftPlace);
  Value logic(const BinaryExpr *expr);
  Value negation(const UnaryExpr *expr);
  Value conditional(const ConditionalExpr *expr);
  Value lambda(const LambdaExpr *expr);
  Value index(const IndexExpr *expr);
  Value slice(const Value &base, const SliceExpr *slice, const IndexExpr *expr);
  Value attribute(const AttributeExpr *expr);

  Interpreter &interpreter_;
  Run &run_;
};

} // namespace lstmc::lnet
