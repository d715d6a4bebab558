// The meaning of tensors, types and scopes for the interpreter: nodes of the net.
#pragma once

#include "frontend/lnet/net/Extents.h"
#include "frontend/lnet/net/Nodes.h"
#include "frontend/lnet/net/Scopes.h"
#include "frontend/lnet/net/TensorMethods.h"
#include "frontend/lnet/net/Types.h"

namespace lstmc::lnet {

class NetTensors : public Tensors {
public:
  NetTensors(Interpreter &interpreter, Nodes &nodes, const DimNames &dims, Types &types)
      : interpreter_(interpreter), run_(interpreter.run), nodes_(nodes), dims_(dims), types_(types),
        scopes_(interpreter, nodes), methods_(interpreter.run, nodes, dims) {}

  Value call(const symbol::OpSignature &op, Arguments &arguments) override;
  Value binary(TokenKind op, const Value &left, const Value &right, Span opSpan,
               const Expr *leftPlace, const Expr *rightPlace) override;
  Value negative(const Value &tensor, const UnaryExpr *expr) override;
  Value compare(CompareOp op, const Value &left, const Value &right, const CompareTerm &term,
                const Expr *leftPlace) override;
  Value index(const Value &tensor, const IndexExpr *expr) override;
  Value attribute(const Value &tensor, const AttributeExpr *expr) override {
    return methods_.attribute(tensor, expr);
  }
  Value method(const Value &tensor, const AttributeExpr *callee, Arguments &arguments) override {
    return methods_.call(tensor, callee, arguments);
  }
  Value length(const Value &tensor, const Expr *place) override {
    return methods_.length(tensor, place);
  }
  std::shared_ptr<TypeValue> type(const TypeNode *node) override { return types_.evaluate(node); }
  void checkType(const Value &value, const std::shared_ptr<TypeValue> &type, std::string_view name,
                 Span span) override {
    types_.check(value, type, name, span);
  }
  size_t openScopes(const WithStmt *stmt) override { return scopes_.open(stmt); }
  void closeScopes(size_t count) override { scopes_.close(count); }

private:
  Interpreter &interpreter_;
  Run &run_;
  Nodes &nodes_;
  const DimNames &dims_;
  Types &types_;
  Scopes scopes_;
  TensorMethods methods_;
};

} // namespace lstmc::lnet
