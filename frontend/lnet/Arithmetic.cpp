// Python's arithmetic and comparisons on build-time values; a bool is no number, integers have 64
// bits, floats are finite.
#include <cmath>

#include "frontend/lnet/Evaluator.h"
#include "frontend/lnet/Numbers.h"

namespace lstmc::lnet {

Value Evaluator::binary(TokenKind op, const Value &left, const Value &right, Span opSpan,
                        const Expr *leftPlace, const Expr *rightPlace) {
  if (left.isUnknown() || right.isUnknown())
    return Value::unknown();
  if (left.is(ValueKind::Tensor) || right.is(ValueKind::Tensor))
    return tensorBinary(op, left, right, opSpan, leftPlace, rightPlace);
  Span span{leftPlace->span.begin, rightPlace->span.end};
  if (left.is(ValueKind::Integer) && right.is(ValueKind::Integer))
    return integerBinary(op, left.integer(), right.integer(), span);
  if (left.isNumber() && right.isNumber())
    return floatBinary(op, left.number(), right.number(), span, left, right);
  if (op == TokenKind::Percent && left.is(ValueKind::String)) {
    std::optional<std::string> text = formatString(left.string(), right, span);
    return text ? makeString(std::move(*text), span) : Value::unknown();
  }
  Value result = sequenceBinary(op, left, right, span);
  if (!result.is(ValueKind::Unset))
    return result;
  return error(ErrorCode::E0317, opSpan, "\"{}\" has no meaning for {} and {}", spelling(op),
               kindName(left.kind()), kindName(right.kind()));
}

Value Evaluator::integerBinary(TokenKind op, int64_t a, int64_t b, Span span) {
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
      return error(ErrorCode::E0303, span, "{} / 0", a);
    return Value::number(trueQuotient(a, b));
  case TokenKind::DoubleSlash:
  case TokenKind::Percent:
    if (b == 0)
      return error(ErrorCode::E0303, span, "{} {} 0", a, spelling(op));
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
        return error(ErrorCode::E0303, span, "0 ** {}", b);
      return Value::number(std::pow(double(a), double(b)));
    }
    overflow = !integerPower(a, b, result);
    break;
  default:
    return error(ErrorCode::E0317, span, "\"{}\" has no meaning for two integers", spelling(op));
  }
  if (overflow)
    return error(ErrorCode::E0304, span, "{} {} {} overflows", a, spelling(op), b);
  return Value::integer(result);
}

Value Evaluator::floatBinary(TokenKind op, double a, double b, Span span, const Value &left,
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
      return error(ErrorCode::E0303, span, "{} {} {}", textOf(left), spelling(op), textOf(right));
    result = op == TokenKind::Slash     ? a / b
             : op == TokenKind::Percent ? floorModulo(a, b)
                                        : floorQuotient(a, b);
    break;
  case TokenKind::DoubleStar:
    if (a == 0 && b < 0)
      return error(ErrorCode::E0303, span, "{} ** {}", textOf(left), textOf(right));
    if (a < 0 && std::floor(b) != b)
      return error(ErrorCode::E0317, span, "({}) ** {} is no real number", textOf(left),
                   textOf(right));
    result = std::pow(a, b);
    break;
  default:
    return error(ErrorCode::E0317, span, "\"{}\" has no meaning for two numbers", spelling(op));
  }
  if (!std::isfinite(result))
    return error(ErrorCode::E0304, span, "{} {} {} overflows", textOf(left), spelling(op),
                 textOf(right));
  return Value::number(result);
}

/// `+` joins, `*` repeats; Unset if the operands are none that do.
Value Evaluator::sequenceBinary(TokenKind op, const Value &left, const Value &right, Span span) {
  if (op == TokenKind::Plus && left.kind() == right.kind()) {
    if (left.is(ValueKind::String))
      return stepMany(left.string().size() / 4, span)
                 ? makeString(left.string() + right.string(), span)
                 : Value::unknown();
    if (left.isSequence()) {
      if (!stepMany(left.items().size() + right.items().size(), span))
        return Value::unknown();
      std::vector<Value> items = left.items();
      items.insert(items.end(), right.items().begin(), right.items().end());
      return makeSequence(left.kind(), std::move(items), span);
    }
  }
  if (op != TokenKind::Star)
    return Value();
  bool countFirst = left.is(ValueKind::Integer);
  const Value &count = countFirst ? left : right, &base = countFirst ? right : left;
  if (!count.is(ValueKind::Integer) || (!base.isSequence() && !base.is(ValueKind::String)))
    return Value();
  uint64_t times = uint64_t(std::max<int64_t>(0, count.integer()));
  uint64_t size = base.isSequence() ? base.items().size() : base.string().size();
  if (size > 0 && times > options_.limits.list / size)
    return limitError(ErrorCode::E0314, span,
                      fmt::format("{} of {} times {}, the limit is {}",
                                  base.is(ValueKind::String) ? "string"
                                  : base.is(ValueKind::List) ? "list"
                                                             : "tuple",
                                  grouped(int64_t(size)), grouped(int64_t(times)),
                                  grouped(int64_t(options_.limits.list))),
                      "list");
  if (size == 0)
    times = 0;
  if (!base.isSequence()) {
    std::string text;
    for (uint64_t i = 0; i < times; ++i)
      text += base.string();
    return makeString(std::move(text), span);
  }
  std::vector<Value> items;
  items.reserve(size * times);
  for (uint64_t i = 0; i < times; ++i)
    items.insert(items.end(), base.items().begin(), base.items().end());
  return makeSequence(base.kind(), std::move(items), span);
}

Value Evaluator::unary(TokenKind op, const Value &operand, const UnaryExpr *expr) {
  switch (operand.kind()) {
  case ValueKind::Unknown:
    return operand;
  case ValueKind::Integer:
    if (op == TokenKind::Plus)
      return operand;
    if (operand.integer() == INT64_MIN)
      return error(ErrorCode::E0304, expr->span, "-({}) overflows", operand.integer());
    return Value::integer(-operand.integer());
  case ValueKind::Float:
    return op == TokenKind::Plus ? operand : Value::number(-operand.number());
  case ValueKind::Tensor:
    if (op == TokenKind::Plus)
      return operand;
    return applyOne("_mul_scalar", {operand}, {{"scalar", -1.0}}, expr->span, {expr->operand});
  default:
    return error(ErrorCode::E0317, expr->span, "\"{}\" has no meaning for {}", spelling(op),
                 kindName(operand.kind()));
  }
}

/// -1, 0 or 1 as a stands to b; nothing after an error.
std::optional<int> Evaluator::order(const Value &a, const Value &b, std::string_view op,
                                    Span span) {
  if (a.isNumber() && b.isNumber()) {
    if (a.is(ValueKind::Integer) && b.is(ValueKind::Integer))
      return a.integer() < b.integer() ? -1 : a.integer() > b.integer();
    if (a.is(ValueKind::Float) && b.is(ValueKind::Float))
      return a.number() < b.number() ? -1 : a.number() > b.number();
    return a.is(ValueKind::Integer) ? compareExactly(a.integer(), b.number())
                                    : -compareExactly(b.integer(), a.number());
  }
  if (a.is(ValueKind::String) && b.is(ValueKind::String)) {
    int result = a.string().compare(b.string());
    return result < 0 ? -1 : result > 0;
  }
  if (a.isSequence() && a.kind() == b.kind() && !a.sameObject(b)) {
    size_t common = std::min(a.items().size(), b.items().size());
    if (!stepMany(common, span))
      return std::nullopt;
    for (size_t i = 0; i < common; ++i) {
      std::optional<bool> same = equal(a.items()[i], b.items()[i]);
      if (!stepMany(takeWork(), span))
        return std::nullopt;
      if (same && *same)
        continue;
      if (a.items()[i].isSequence() && ++callDepth_ > options_.limits.depth) {
        --callDepth_;
        limitError(ErrorCode::E0313, span, "values nested too deep to compare", "depth");
        return std::nullopt;
      }
      std::optional<int> result = order(a.items()[i], b.items()[i], op, span);
      callDepth_ -= a.items()[i].isSequence();
      return result;
    }
    return a.items().size() < b.items().size() ? -1 : a.items().size() > b.items().size();
  }
  if (a.sameObject(b) && a.isSequence())
    return 0;
  if (!a.isUnknown() && !b.isUnknown())
    error(ErrorCode::E0317, span, "\"{}\" has no meaning for {} and {}", op, kindName(a.kind()),
          kindName(b.kind()));
  return std::nullopt;
}

std::optional<bool> Evaluator::contains(const Value &container, const Value &item, Span span) {
  auto tensors = [&]() -> std::optional<bool> {
    report(makeError(ErrorCode::E0301, span, "a tensor has no value at build time", {}));
    return std::nullopt;
  };
  switch (container.kind()) {
  case ValueKind::Tuple:
  case ValueKind::List:
    for (const Value &each : container.items()) {
      if (!step(span))
        return std::nullopt;
      std::optional<bool> same = equal(each, item);
      if (!stepMany(takeWork(), span))
        return std::nullopt;
      if (!same)
        return tensors();
      if (*same)
        return true;
    }
    return false;
  case ValueKind::Dict: {
    auto &dict = container.as<DictObject>();
    std::optional<size_t> hash = hashOf(item);
    if (!hash)
      break;
    auto [from, to] = dict.index.equal_range(*hash);
    for (auto at = from; at != to; ++at)
      if (equal(dict.entries[at->second].first, item).value_or(false))
        return true;
    return false;
  }
  case ValueKind::String:
    if (!item.is(ValueKind::String))
      break;
    if (!stepMany(container.string().size() / 4, span))
      return std::nullopt;
    return container.string().find(item.string()) != std::string::npos;
  case ValueKind::Range: {
    auto &range = container.as<RangeObject>();
    if (!item.isNumber())
      return false;
    if (item.is(ValueKind::Float) && std::floor(item.number()) != item.number())
      return false;
    if (item.is(ValueKind::Float) && std::fabs(item.number()) >= 0x1p63)
      return false;
    int64_t value = item.is(ValueKind::Integer) ? item.integer() : int64_t(item.number());
    if (range.step > 0 ? value < range.start || value >= range.stop
                       : value > range.start || value <= range.stop)
      return false;
    uint64_t distance = range.step > 0 ? uint64_t(value) - uint64_t(range.start)
                                       : uint64_t(range.start) - uint64_t(value);
    return distance % (range.step > 0 ? uint64_t(range.step) : 0 - uint64_t(range.step)) == 0;
  }
  default:
    break;
  }
  error(ErrorCode::E0317, span, "\"in\" has no meaning for {} and {}", kindName(item.kind()),
        kindName(container.kind()));
  return std::nullopt;
}

Value Evaluator::compare(CompareOp op, const Value &left, const Value &right,
                         const CompareTerm &term, const Expr *leftPlace) {
  if (left.isUnknown() || right.isUnknown())
    return Value::unknown();
  bool membership = op == CompareOp::In || op == CompareOp::NotIn;
  if (membership) {
    std::optional<bool> result = contains(right, left, term.opSpan);
    return result ? Value::boolean(*result == (op == CompareOp::In)) : Value::unknown();
  }
  auto tensorOrNumber = [](const Value &v) { return v.is(ValueKind::Tensor) || v.isNumber(); };
  if ((left.is(ValueKind::Tensor) || right.is(ValueKind::Tensor)) && tensorOrNumber(left) &&
      tensorOrNumber(right))
    return tensorCompare(op, left, right, term, leftPlace);
  if (op == CompareOp::Equal || op == CompareOp::NotEqual) {
    std::optional<bool> same = equal(left, right);
    if (!stepMany(takeWork(), term.opSpan))
      return Value::unknown();
    if (!same)
      return report(
          makeError(ErrorCode::E0301, term.opSpan, "a tensor has no value at build time", {}));
    return Value::boolean(*same == (op == CompareOp::Equal));
  }
  std::string_view sign = module_->file->text(term.opSpan);
  std::optional<int> result = order(left, right, sign, term.opSpan);
  if (!result)
    return Value::unknown();
  switch (op) {
  case CompareOp::Less:
    return Value::boolean(*result < 0);
  case CompareOp::LessEqual:
    return Value::boolean(*result <= 0);
  case CompareOp::Greater:
    return Value::boolean(*result > 0);
  default:
    return Value::boolean(*result >= 0);
  }
}

} // namespace lstmc::lnet
