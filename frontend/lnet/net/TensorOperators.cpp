#include "frontend/lnet/net/TensorOperators.h"

#include <algorithm>

#include "frontend/lnet/evaluation/Numbers.h"
#include "frontend/lnet/net/Broadcast.h"
#include "frontend/symbol/OperandForms.h"

namespace lstmc::lnet {

namespace {

using symbol::OperandForms;

struct Operator {
  TokenKind sign;
  std::string_view op; ///< on two tensors
};
constexpr Operator kOperators[] = {
    {TokenKind::Plus, "elemwise_add"}, {TokenKind::Minus, "elemwise_sub"},
    {TokenKind::Star, "elemwise_mul"}, {TokenKind::Slash, "elemwise_div"},
    {TokenKind::Percent, "_mod"},      {TokenKind::DoubleStar, "_power"},
};
struct Comparison {
  CompareOp op;
  std::string_view sign, name;
};
constexpr Comparison kComparisons[] = {
    {CompareOp::Equal, "==", "_equal"},    {CompareOp::NotEqual, "!=", "_not_equal"},
    {CompareOp::Less, "<", "_lesser"},     {CompareOp::LessEqual, "<=", "_lesser_equal"},
    {CompareOp::Greater, ">", "_greater"}, {CompareOp::GreaterEqual, ">=", "_greater_equal"},
};
/// Functions that broadcast tensors, like NumPy's of the same names.
constexpr std::string_view kStretching[] = {"_maximum", "_minimum", "_hypot", "_mod", "_power"};

std::optional<DType> dtypeOf(const Value &value) {
  return value.is(ValueKind::Tensor) ? value.as<TensorObject>().symbol.dtype() : std::nullopt;
}
std::optional<DType> integerType(const Value &value) {
  std::optional<DType> dtype = dtypeOf(value);
  return dtype && !isFloat(*dtype) ? dtype : std::nullopt;
}

/// Whether the number is an integer that an op's attribute, a double, cannot represent, and the
/// tensor may be of integers.
bool isRounded(const Value &number, const Value &tensor) {
  if (!number.is(ValueKind::Integer) || compareExactly(number.integer(), number.number()) == 0)
    return false;
  std::optional<DType> dtype = dtypeOf(tensor);
  return !dtype || !isFloat(*dtype);
}

/// The number as a tensor like another one. If a double cannot represent it, it is added in two
/// parts that a double can represent.
Value constantLike(Nodes &nodes, const Value &tensor, const Value &number, Span span,
                   const Expr *tensorPlace, const Expr *numberPlace) {
  auto plus = [&](const Value &to, double addend) {
    return to.isUnknown()
               ? to
               : nodes.applyOne("_plus_scalar", {to}, {{"scalar", addend}}, span, {numberPlace});
  };
  Value zeros = nodes.applyOne("zeros_like", {tensor}, {}, span, {tensorPlace});
  if (!isRounded(number, tensor))
    return plus(zeros, number.number());
  constexpr int64_t kLowBits = (int64_t(1) << 11) - 1;
  const int64_t low = number.integer() & kLowBits;
  return plus(plus(zeros, double(number.integer() - low)), double(low));
}

/// Emits the form for a tensor and a tensor or number.
Value applyForm(Run &run, Nodes &nodes, const OperandForms &forms, TensorPair pair) {
  auto constant = [&](const Value &number, const Expr *place, const Value &tensor,
                      const Expr *tensorPlace) {
    return constantLike(nodes, tensor, number, pair.span, tensorPlace, place);
  };
  if (isRounded(pair.right, pair.left))
    pair.right = constant(pair.right, pair.rightPlace, pair.left, pair.leftPlace);
  else if (isRounded(pair.left, pair.right))
    pair.left = constant(pair.left, pair.leftPlace, pair.right, pair.rightPlace);
  if (pair.left.isUnknown() || pair.right.isUnknown())
    return Value::unknown();
  if (pair.right.isNumber())
    return nodes.applyOne(forms.number->name, {pair.left}, {{"scalar", pair.right.number()}},
                          pair.span, {pair.leftPlace});
  if (pair.left.isNumber())
    return nodes.applyOne(forms.numberFirst->name, {pair.right}, {{"scalar", pair.left.number()}},
                          pair.span, {pair.rightPlace});
  std::optional<bool> stretch = alignRanks(run, nodes, pair);
  if (!stretch)
    return Value::unknown();
  return nodes.applyOne((*stretch ? forms.stretching : forms.tensors)->name,
                        {pair.left, pair.right}, {}, pair.span, {pair.leftPlace, pair.rightPlace});
}

const OperandForms *formsOf(TokenKind sign) {
  for (const Operator &op : kOperators)
    if (op.sign == sign)
      return symbol::operandFormsOf(*symbol::findOp(op.op));
  return nullptr;
}
const Comparison &rowOf(CompareOp op) {
  return *std::ranges::find(kComparisons, op, &Comparison::op);
}
const OperandForms &formsOf(CompareOp op) {
  return *symbol::operandFormsOf(*symbol::findOp(rowOf(op).name));
}

/// Floor division. For integers: q = a / b truncates; subtract 1 if q * b differs from a - a % b
/// although a % b, which has the sign of b, is not 0. This holds if the operations wrap around, and
/// division by 0 gives 0. a is obtained from its difference, so that only the first operation
/// broadcasts a to b.
Value floorQuotient(Run &run, Nodes &nodes, const TensorPair &pair) {
  auto apply = [&](TokenKind sign, const Value &left, const Value &right) {
    if (left.isUnknown() || right.isUnknown())
      return Value::unknown();
    return applyForm(run, nodes, *formsOf(sign),
                     {left, right, spelling(sign), pair.span, pair.leftPlace, pair.rightPlace});
  };
  if (!integerType(pair.left) && !integerType(pair.right)) {
    Value quotient = apply(TokenKind::Slash, pair.left, pair.right);
    return quotient.isUnknown()
               ? quotient
               : nodes.applyOne("floor", {quotient}, {}, pair.span, {pair.leftPlace});
  }
  auto unequal = [&](const Value &left, const Value &right) {
    if (left.isUnknown() || right.isUnknown())
      return Value::unknown();
    return applyForm(run, nodes, formsOf(CompareOp::NotEqual),
                     {left, right, "!=", pair.span, pair.leftPlace, pair.rightPlace});
  };
  Value modulo = apply(TokenKind::Percent, pair.left, pair.right);
  Value whole = apply(TokenKind::Minus, pair.left, modulo);
  Value quotient = apply(TokenKind::Slash, apply(TokenKind::Plus, whole, modulo), pair.right);
  Value above = apply(TokenKind::Star, unequal(modulo, Value::integer(0)),
                      unequal(apply(TokenKind::Star, quotient, pair.right), whole));
  return apply(TokenKind::Minus, quotient, above);
}

} // namespace

Value tensorBinary(Run &run, Nodes &nodes, TokenKind sign, const Value &left, const Value &right,
                   Span opSpan, const Expr *leftPlace, const Expr *rightPlace) {
  auto mayTake = [](const Value &v) { return v.is(ValueKind::Tensor) || v.isNumber(); };
  TensorPair pair{left, right, spelling(sign), opSpan, leftPlace, rightPlace};
  if (mayTake(left) && mayTake(right)) {
    if (sign == TokenKind::DoubleSlash)
      return floorQuotient(run, nodes, pair);
    if (sign == TokenKind::Slash)
      for (const Value &value : {left, right})
        if (std::optional<DType> dtype = integerType(value))
          return run.report(
              run.makeError(ErrorCode::E0317, opSpan,
                            fmt::format("\"/\" has no meaning for {}", dtypeLongName(*dtype)),
                            "x // y rounds down; Cast(x, dtype=\"float32\") / y gives fractions"));
    if (const OperandForms *forms = formsOf(sign))
      return applyForm(run, nodes, *forms, pair);
  }
  if (sign == TokenKind::At && left.is(ValueKind::Tensor) && right.is(ValueKind::Tensor))
    return nodes.applyOne("dot", {left, right}, {}, opSpan, {leftPlace, rightPlace});
  return run.error(ErrorCode::E0317, opSpan, "\"{}\" has no meaning for {} and {}", spelling(sign),
                   kindName(left.kind()), kindName(right.kind()));
}

Value tensorCompare(Run &run, Nodes &nodes, CompareOp compare, const Value &left,
                    const Value &right, const CompareTerm &term, const Expr *leftPlace) {
  return applyForm(run, nodes, formsOf(compare),
                   {left, right, rowOf(compare).sign, term.opSpan, leftPlace, term.right});
}

std::optional<Value> callOfTwo(Run &run, Nodes &nodes, const symbol::OpSignature &op,
                               const Arguments &arguments, std::string_view shown) {
  if (arguments.positional.size() != 2 || !arguments.named.empty())
    return std::nullopt;
  const Value &left = arguments.positional[0], &right = arguments.positional[1];
  bool tensors = left.is(ValueKind::Tensor) && right.is(ValueKind::Tensor);
  if (!tensors && !(left.is(ValueKind::Tensor) && right.isNumber()) &&
      !(left.isNumber() && right.is(ValueKind::Tensor)))
    return std::nullopt;
  const OperandForms *forms = symbol::operandFormsOf(op);
  if (!forms || (tensors && std::ranges::find(kStretching, op.name) == std::end(kStretching)))
    return std::nullopt;
  return applyForm(
      run, nodes, *forms,
      {left, right, shown, calleeSpan(arguments.call), arguments.places[0], arguments.places[1]});
}

void fillNumbersOfWhere(Nodes &nodes, const symbol::OpSignature &op, Arguments &arguments) {
  if (op.name != "where" || arguments.positional.size() != 3)
    return;
  for (size_t i : {size_t(1), size_t(2)}) {
    const Value &like = arguments.positional[3 - i], &number = arguments.positional[i];
    if (!number.isNumber() || !like.is(ValueKind::Tensor))
      continue;
    Span span = calleeSpan(arguments.call);
    arguments.positional[i] =
        constantLike(nodes, like, number, span, arguments.places[3 - i], arguments.places[i]);
  }
}

} // namespace lstmc::lnet
