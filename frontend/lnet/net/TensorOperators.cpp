#include "frontend/lnet/net/TensorOperators.h"

namespace lstmc::lnet {

namespace {

/// Operators of two tensors, of a tensor and a number, of a number and a tensor.
struct Operator {
  TokenKind sign;
  std::string_view tensors, number, numberFirst;
};
constexpr Operator kOperators[] = {
    {TokenKind::Plus, "elemwise_add", "_plus_scalar", "_plus_scalar"},
    {TokenKind::Minus, "elemwise_sub", "_minus_scalar", "_rminus_scalar"},
    {TokenKind::Star, "elemwise_mul", "_mul_scalar", "_mul_scalar"},
    {TokenKind::Slash, "elemwise_div", "_div_scalar", "_rdiv_scalar"},
    {TokenKind::Percent, "_mod", "_mod_scalar", "_rmod_scalar"},
    {TokenKind::DoubleStar, "_power", "_power_scalar", "_rpower_scalar"},
};
struct Comparison {
  CompareOp op;
  std::string_view tensors, number, numberFirst;
};
constexpr Comparison kComparisons[] = {
    {CompareOp::Equal, "_equal", "_equal_scalar", "_equal_scalar"},
    {CompareOp::NotEqual, "_not_equal", "_not_equal_scalar", "_not_equal_scalar"},
    {CompareOp::Less, "_lesser", "_lesser_scalar", "_greater_scalar"},
    {CompareOp::LessEqual, "_lesser_equal", "_lesser_equal_scalar", "_greater_equal_scalar"},
    {CompareOp::Greater, "_greater", "_greater_scalar", "_lesser_scalar"},
    {CompareOp::GreaterEqual, "_greater_equal", "_greater_equal_scalar", "_lesser_equal_scalar"},
};
/// Ops of two tensors that take a number for one as well, as MXNet's functions of the same name do.
constexpr std::string_view kWithNumbers[][3] = {
    {"_maximum", "_maximum_scalar", "_maximum_scalar"},
    {"_minimum", "_minimum_scalar", "_minimum_scalar"},
    {"_hypot", "_hypot_scalar", "_hypot_scalar"},
    {"_mod", "_mod_scalar", "_rmod_scalar"},
    {"_power", "_power_scalar", "_rpower_scalar"},
};

} // namespace

Value tensorBinary(Run &run, Nodes &nodes, TokenKind sign, const Value &left, const Value &right,
                   Span opSpan, const Expr *leftPlace, const Expr *rightPlace) {
  bool both = left.is(ValueKind::Tensor) && right.is(ValueKind::Tensor);
  if (both && sign == TokenKind::At)
    return nodes.applyOne("dot", {left, right}, {}, opSpan, {leftPlace, rightPlace});
  for (const Operator &op : kOperators) {
    if (op.sign != sign)
      continue;
    if (both)
      return nodes.applyOne(op.tensors, {left, right}, {}, opSpan, {leftPlace, rightPlace});
    if (right.isNumber())
      return nodes.applyOne(op.number, {left}, {{"scalar", right.number()}}, opSpan, {leftPlace});
    if (left.isNumber())
      return nodes.applyOne(op.numberFirst, {right}, {{"scalar", left.number()}}, opSpan,
                            {rightPlace});
  }
  return run.error(ErrorCode::E0317, opSpan, "\"{}\" has no meaning for {} and {}", spelling(sign),
                   kindName(left.kind()), kindName(right.kind()));
}

Value tensorCompare(Nodes &nodes, CompareOp compare, const Value &left, const Value &right,
                    const CompareTerm &term, const Expr *leftPlace) {
  for (const Comparison &op : kComparisons) {
    if (op.op != compare)
      continue;
    if (left.is(ValueKind::Tensor) && right.is(ValueKind::Tensor))
      return nodes.applyOne(op.tensors, {left, right}, {}, term.opSpan, {leftPlace, term.right});
    if (right.isNumber())
      return nodes.applyOne(op.number, {left}, {{"scalar", right.number()}}, term.opSpan,
                            {leftPlace});
    return nodes.applyOne(op.numberFirst, {right}, {{"scalar", left.number()}}, term.opSpan,
                          {term.right});
  }
  return Value::unknown();
}

std::optional<Value> callWithNumber(Nodes &nodes, const symbol::OpSignature &op,
                                    const Arguments &arguments) {
  if (arguments.positional.size() != 2 || !arguments.named.empty())
    return std::nullopt;
  const Value &left = arguments.positional[0], &right = arguments.positional[1];
  Span span = calleeSpan(arguments.call);
  for (auto &[tensors, number, numberFirst] : kWithNumbers) {
    if (tensors != op.name)
      continue;
    if (left.is(ValueKind::Tensor) && right.isNumber())
      return nodes.applyOne(number, {left}, {{"scalar", right.number()}}, span,
                            {arguments.places[0]});
    if (left.isNumber() && right.is(ValueKind::Tensor))
      return nodes.applyOne(numberFirst, {right}, {{"scalar", left.number()}}, span,
                            {arguments.places[1]});
  }
  return std::nullopt;
}

} // namespace lstmc::lnet
