#include "frontend/lnet/net/NetTensors.h"

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
  if (std::optional<Value> made = callOfTwo(run_, nodes_, op, arguments, shown))
    return *made;
  fillNumbersOfWhere(nodes_, op, arguments);
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
  return tensorCompare(run_, nodes_, op, left, right, term, leftPlace);
}

Value NetTensors::index(const Value &tensor, const IndexExpr *expr) {
  return TensorIndex(interpreter_, nodes_, tensor, expr).make();
}

} // namespace lstmc::lnet
