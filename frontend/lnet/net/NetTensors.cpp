#include "frontend/lnet/net/NetTensors.h"

#include "frontend/lnet/evaluation/Collections.h"
#include "frontend/lnet/net/OpCall.h"
#include "frontend/lnet/net/TensorIndex.h"
#include "frontend/lnet/net/TensorOperators.h"
#include "frontend/lnet/net/Variables.h"

namespace lstmc::lnet {

Value NetTensors::call(const symbol::OpSignature &op, Arguments &arguments) {
  if (op.name == "Custom")
    return refuseCustom(run_, arguments);
  Span span = calleeSpan(arguments.call);
  std::string_view written = run_.at.module->file->text(span);
  std::string_view shown = written.empty() ? std::string_view(op.name) : written;
  if (!run_.mayDraw(shown, span))
    return Value::unknown();
  if (std::optional<Value> made = callWithNumber(nodes_, op, arguments))
    return *made;
  return OpCall(run_, nodes_, dims_, op, arguments, shown).make();
}

Value NetTensors::binary(TokenKind op, const Value &left, const Value &right, Span opSpan,
                         const Expr *leftPlace, const Expr *rightPlace) {
  return tensorBinary(run_, nodes_, op, left, right, opSpan, leftPlace, rightPlace);
}

Value NetTensors::negative(const Value &tensor, const UnaryExpr *expr) {
  return nodes_.applyOne("_mul_scalar", {tensor}, {{"scalar", -1.0}}, expr->span, {expr->operand});
}

Value NetTensors::compare(CompareOp op, const Value &left, const Value &right,
                          const CompareTerm &term, const Expr *leftPlace) {
  return tensorCompare(nodes_, op, left, right, term, leftPlace);
}

Value NetTensors::index(const Value &tensor, const IndexExpr *expr) {
  return TensorIndex(interpreter_, nodes_, tensor, expr).make();
}

Value NetTensors::attribute(const Value &tensor, const AttributeExpr *expr) {
  const symbol::Symbol &symbol = tensor.as<TensorObject>().symbol;
  if (expr->name == "shape")
    return shapeOf(symbol, expr);
  if (expr->name != "dtype")
    return Value();
  if (std::optional<DType> dtype = symbol.dtype())
    return makeString(run_, std::string(dtypeLongName(*dtype)), expr->nameSpan);
  return run_.error(ErrorCode::E0211, expr->nameSpan,
                    "the dtype of \"{}\" follows from nothing yet", symbol.name());
}

Value NetTensors::shapeOf(const symbol::Symbol &symbol, const AttributeExpr *expr) {
  symbol::Shape shape = symbol.shape();
  if (!shape.ranked)
    return run_.error(ErrorCode::E0211, expr->nameSpan,
                      "the shape of \"{}\" follows from nothing yet", symbol.name());
  std::vector<Value> extents;
  for (size_t i = 0; i < shape.dims.size(); ++i) {
    const symbol::Dim &dim = shape.dims[i];
    if (dim.extent == symbol::kUnknown)
      return run_.error(ErrorCode::E0211, expr->nameSpan,
                        "axis {} of \"{}\" follows from nothing yet", i, symbol.name());
    extents.push_back(Value::integer(dim.extent, dims_.number(dim.name)));
  }
  return makeSequence(run_, ValueKind::Tuple, std::move(extents), expr->span);
}

} // namespace lstmc::lnet
