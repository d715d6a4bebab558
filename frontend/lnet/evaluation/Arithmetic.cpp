#include <cmath>

#include "frontend/lnet/evaluation/Collections.h"
#include "frontend/lnet/evaluation/Numbers.h"
#include "frontend/lnet/evaluation/Operators.h"

namespace lstmc::lnet {

namespace {

Value integerBinary(Run &run, TokenKind op, int64_t a, int64_t b, Span span) {
  int64_t result = 0;
  bool overflow = false;
  switch (op) {
  case TokenKind::Plus:
    overflow = __builtin_add_overflow(a, b, &result);
    break;
  case TokenKind::Minus:
    overflow = __builtin_sub_overflow(a, b, &result);
    break;
  case TokenKind::Star:
    overflow = __builtin_mul_overflow(a, b, &result);
    break;
  case TokenKind::Slash:
    if (b == 0)
      return run.error(ErrorCode::E0303, span, "{} / 0", a);
    return Value::number(trueQuotient(a, b));
  case TokenKind::DoubleSlash:
  case TokenKind::Percent:
    if (b == 0)
      return run.error(ErrorCode::E0303, span, "{} {} 0", a, spelling(op));
    if (b == -1) {
      if (op == TokenKind::Percent)
        return Value::integer(0);
      overflow = __builtin_sub_overflow(int64_t(0), a, &result);
      break;
    }
    result = op == TokenKind::Percent ? a % b : a / b;
    if (a % b != 0 && (a % b < 0) != (b < 0))
      result += op == TokenKind::Percent ? b : -1;
    break;
  case TokenKind::DoubleStar:
    if (b < 0) {
      if (a == 0)
        return run.error(ErrorCode::E0303, span, "0 ** {}", b);
      return Value::number(std::pow(double(a), double(b)));
    }
    overflow = !integerPower(a, b, result);
    break;
  default:
    return run.error(ErrorCode::E0317, span, "\"{}\" has no meaning for two integers",
                     spelling(op));
  }
  if (overflow)
    return run.error(ErrorCode::E0304, span, "{} {} {} overflows", a, spelling(op), b);
  return Value::integer(result);
}

Value floatBinary(Run &run, TokenKind op, double a, double b, Span span, const Value &left,
                  const Value &right) {
  double result = 0;
  switch (op) {
  case TokenKind::Plus:
    result = a + b;
    break;
  case TokenKind::Minus:
    result = a - b;
    break;
  case TokenKind::Star:
    result = a * b;
    break;
  case TokenKind::Slash:
  case TokenKind::DoubleSlash:
  case TokenKind::Percent:
    if (b == 0)
      return run.error(ErrorCode::E0303, span, "{} {} {}", textOf(left), spelling(op),
                       textOf(right));
    result = op == TokenKind::Slash     ? a / b
             : op == TokenKind::Percent ? floorModulo(a, b)
                                        : floorQuotient(a, b);
    break;
  case TokenKind::DoubleStar:
    if (a == 0 && b < 0)
      return run.error(ErrorCode::E0303, span, "{} ** {}", textOf(left), textOf(right));
    if (a < 0 && std::floor(b) != b)
      return run.error(ErrorCode::E0317, span, "({}) ** {} is no real number", textOf(left),
                       textOf(right));
    result = std::pow(a, b);
    break;
  default:
    return run.error(ErrorCode::E0317, span, "\"{}\" has no meaning for two numbers", spelling(op));
  }
  if (!std::isfinite(result))
    return run.error(ErrorCode::E0304, span, "{} {} {} overflows", textOf(left), spelling(op),
                     textOf(right));
  return Value::number(result);
}

/// `left + right` for two strings, lists or tuples; Unset for others.
Value joined(Run &run, const Value &left, const Value &right, Span span) {
  if (left.kind() != right.kind())
    return Value();
  if (left.is(ValueKind::String))
    return run.stepMany(left.string().size() / 4, span)
               ? makeString(run, left.string() + right.string(), span)
               : Value::unknown();
  if (!left.isSequence())
    return Value();
  if (!run.stepMany(left.items().size() + right.items().size(), span))
    return Value::unknown();
  std::vector<Value> items = left.items();
  items.insert(items.end(), right.items().begin(), right.items().end());
  return makeSequence(run, left.kind(), std::move(items), span);
}

std::string_view collectionName(const Value &value) {
  return value.is(ValueKind::String) ? "string" : value.is(ValueKind::List) ? "list" : "tuple";
}

/// A string, list or tuple times an integer, in either order; Unset for others.
Value repeated(Run &run, const Value &left, const Value &right, Span span) {
  bool countFirst = left.is(ValueKind::Integer);
  const Value &count = countFirst ? left : right, &base = countFirst ? right : left;
  if (!count.is(ValueKind::Integer) || (!base.isSequence() && !base.is(ValueKind::String)))
    return Value();
  uint64_t times = uint64_t(std::max<int64_t>(0, count.integer()));
  uint64_t size = base.isSequence() ? base.items().size() : base.string().size();
  if (size > 0 && times > run.limits().list / size)
    return run.limitError(ErrorCode::E0314, span,
                          fmt::format("{} of {} times {}, the limit is {}", collectionName(base),
                                      grouped(int64_t(size)), grouped(int64_t(times)),
                                      grouped(int64_t(run.limits().list))),
                          "list");
  if (size == 0)
    times = 0;
  if (!base.isSequence()) {
    std::string text;
    for (uint64_t i = 0; i < times; ++i)
      text += base.string();
    return makeString(run, std::move(text), span);
  }
  std::vector<Value> items;
  items.reserve(size * times);
  for (uint64_t i = 0; i < times; ++i)
    items.insert(items.end(), base.items().begin(), base.items().end());
  return makeSequence(run, base.kind(), std::move(items), span);
}

/// `%` of a string, `+` and `*` of strings, lists and tuples; Unset of other operands.
Value collectionBinary(Run &run, TokenKind op, const Value &left, const Value &right, Span span) {
  if (op == TokenKind::Percent && left.is(ValueKind::String)) {
    std::optional<std::string> text = formatString(run, left.string(), right, span);
    return text ? makeString(run, std::move(*text), span) : Value::unknown();
  }
  if (op == TokenKind::Plus)
    return joined(run, left, right, span);
  return op == TokenKind::Star ? repeated(run, left, right, span) : Value();
}

} // namespace

Value arithmetic(Run &run, TokenKind op, const Value &left, const Value &right, Span opSpan,
                 Span span) {
  if (left.is(ValueKind::Integer) && right.is(ValueKind::Integer))
    return integerBinary(run, op, left.integer(), right.integer(), span);
  if (left.isNumber() && right.isNumber())
    return floatBinary(run, op, left.number(), right.number(), span, left, right);
  Value result = collectionBinary(run, op, left, right, span);
  if (!result.is(ValueKind::Unset))
    return result;
  const bool joins =
      op == TokenKind::Plus && (left.is(ValueKind::String) || right.is(ValueKind::String));
  return run.report(run.makeError(ErrorCode::E0317, opSpan,
                                  fmt::format("\"{}\" has no meaning for {} and {}", spelling(op),
                                              kindName(left.kind()), kindName(right.kind())),
                                  joins ? "\"fc%d\" % i, or \"fc\" + str(i)" : ""));
}

Value signedValue(Run &run, TokenKind op, const Value &operand, Span span) {
  switch (operand.kind()) {
  case ValueKind::Unknown:
    return operand;
  case ValueKind::Integer:
    if (op == TokenKind::Plus)
      return operand;
    if (operand.integer() == INT64_MIN)
      return run.error(ErrorCode::E0304, span, "-({}) overflows", operand.integer());
    return Value::integer(-operand.integer());
  case ValueKind::Float:
    return op == TokenKind::Plus ? operand : Value::number(-operand.number());
  default:
    return run.error(ErrorCode::E0317, span, "\"{}\" has no meaning for {}", spelling(op),
                     kindName(operand.kind()));
  }
}

} // namespace lstmc::lnet
