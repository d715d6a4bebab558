// Interface through which the interpreter delegates tensors to the network under construction.
#pragma once

#include "frontend/lnet/evaluation/Arguments.h"

namespace lstmc::lnet {

/// The meaning of tensors, of the types that annotations declare, and of scopes. The interpreter
/// knows that they exist; frontend/lnet/net makes nodes of them.
class Tensors {
public:
  virtual ~Tensors() = default;

  virtual Value call(const symbol::OpSignature &op, Arguments &arguments) = 0;
  /// An operator of which at least one operand is a tensor.
  virtual Value binary(TokenKind op, const Value &left, const Value &right, Span opSpan,
                       const Expr *leftPlace, const Expr *rightPlace) = 0;
  virtual Value negative(const Value &tensor, const UnaryExpr *expr) = 0;
  /// Two tensors, or a tensor and a number.
  virtual Value compare(CompareOp op, const Value &left, const Value &right,
                        const CompareTerm &term, const Expr *leftPlace) = 0;
  virtual Value index(const Value &tensor, const IndexExpr *expr) = 0;
  /// `x.shape`, `x.T`
  virtual Value attribute(const Value &tensor, const AttributeExpr *expr) = 0;
  /// `x.reshape(..)`; the arguments are those in the brackets.
  virtual Value method(const Value &tensor, const AttributeExpr *callee, Arguments &arguments) = 0;
  /// `len(x)`
  virtual Value length(const Value &tensor, const Expr *place) = 0;

  virtual std::shared_ptr<TypeValue> type(const TypeNode *node) = 0;
  /// E0204, E0207 or E0208 unless the value is of the type.
  virtual void checkType(const Value &value, const std::shared_ptr<TypeValue> &type,
                         std::string_view name, Span span) = 0;

  /// Opens the scopes of a `with`; how many were opened.
  virtual size_t openScopes(const WithStmt *stmt) = 0;
  virtual void closeScopes(size_t count) = 0;
};

} // namespace lstmc::lnet
