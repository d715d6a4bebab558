// The language of the formulas in Optimizers.def: statements `NAME = EXPRESSION`, separated by `;`.
// An expression has numbers, names, + - * / and brackets, and calls the scalar operations of
// ScalarOps.def as functions. `clip(x, bound)` is max(min(x, bound), -bound).
//
// One parser for all uses of a formula. It builds no tree: the caller's calculus says what a
// number, a name and an operation are. Operations come left to right, operands before their
// operation.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "executor/abi/ScalarOps.h"

namespace lstmc {

/// A calculus has these members:
///
///   Value                                        the type of an expression
///   Value number(double)
///   Value name(std::string_view)
///   Value apply(ScalarOp, std::span<const Value>)
///   void assign(std::string_view, Value)         at the end of each statement
///
/// Formulas are part of our program, so an error in one is a bug: `read` throws a text that says
/// what it expected. Optimizers.h reads all formulas at compile time, so the build fails.
template <typename Calculus> class FormulaReader {
public:
  using Value = typename Calculus::Value;

  constexpr FormulaReader(std::string_view formula, Calculus &calculus)
      : rest_(formula), calculus_(calculus) {}

  constexpr void read() {
    for (skipSpace(); !rest_.empty(); skipSpace()) {
      std::string_view to = word();
      need('=');
      Value value = sum();
      calculus_.assign(to, std::move(value));
      skipSpace();
      if (!rest_.empty())
        need(';');
    }
  }

private:
  constexpr Value sum() {
    Value left = product();
    while (true) {
      if (take('+'))
        left = apply<2>(ScalarOp::Add, {std::move(left), product()});
      else if (take('-'))
        left = apply<2>(ScalarOp::Sub, {std::move(left), product()});
      else
        return left;
    }
  }

  constexpr Value product() {
    Value left = factor();
    while (true) {
      if (take('*'))
        left = apply<2>(ScalarOp::Mul, {std::move(left), factor()});
      else if (take('/'))
        left = apply<2>(ScalarOp::Div, {std::move(left), factor()});
      else
        return left;
    }
  }

  constexpr Value factor() {
    skipSpace();
    if (take('(')) {
      Value inside = sum();
      need(')');
      return inside;
    }
    if (!rest_.empty() && isDigit(rest_.front()))
      return calculus_.number(number());
    std::string_view name = word();
    return take('(') ? call(name) : calculus_.name(name);
  }

  constexpr Value call(std::string_view name) {
    if (name == "clip") {
      Value x = sum();
      need(',');
      Value bound = sum();
      need(')');
      Value low = apply<2>(ScalarOp::Min, {std::move(x), bound});
      Value least = apply<1>(ScalarOp::Neg, {std::move(bound)});
      return apply<2>(ScalarOp::Max, {std::move(low), std::move(least)});
    }
    ScalarRecord record = operation(name);
    std::array<Value, 3> operands{};
    for (int i = 0; i < record.operands; ++i) {
      if (i > 0)
        need(',');
      operands[size_t(i)] = sum();
    }
    need(')');
    return calculus_.apply(record.op,
                           std::span<const Value>(operands.data(), size_t(record.operands)));
  }

  static constexpr ScalarRecord operation(std::string_view name) {
    for (const ScalarRecord &record : kScalarRecords)
      if (record.name == name && record.result != ScalarResult::From)
        return record;
    throw "want the name of a scalar operation (ScalarOps.def)";
  }

  template <size_t N> constexpr Value apply(ScalarOp op, const std::array<Value, N> &operands) {
    return calculus_.apply(op, std::span<const Value>(operands));
  }

  /// Digits with an optional fraction. The digits are exact below 2^53 and are divided once by a
  /// power of ten, so up to 10^22 the result is rounded as by a compiler.
  constexpr double number() {
    double digits = 0, scale = 1;
    while (!rest_.empty() && isDigit(rest_.front()))
      digits = digits * 10 + (next() - '0');
    if (!rest_.empty() && rest_.front() == '.')
      for (next(); !rest_.empty() && isDigit(rest_.front()); scale *= 10)
        digits = digits * 10 + (next() - '0');
    return digits / scale;
  }

  constexpr std::string_view word() {
    skipSpace();
    size_t length = 0;
    while (length < rest_.size() && (isLetter(rest_[length]) || (length && isDigit(rest_[length]))))
      ++length;
    if (length == 0)
      throw "want a name";
    std::string_view name = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return name;
  }

  constexpr bool take(char sign) {
    skipSpace();
    if (rest_.empty() || rest_.front() != sign)
      return false;
    rest_.remove_prefix(1);
    return true;
  }
  constexpr void need(char sign) {
    if (!take(sign))
      throw "want = ; , or )";
  }
  constexpr char next() {
    char first = rest_.front();
    rest_.remove_prefix(1);
    return first;
  }
  constexpr void skipSpace() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n'))
      rest_.remove_prefix(1);
  }
  static constexpr bool isDigit(char c) { return c >= '0' && c <= '9'; }
  static constexpr bool isLetter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  }

  std::string_view rest_;
  Calculus &calculus_;
};

template <typename Calculus>
constexpr void readFormula(std::string_view formula, Calculus &calculus) {
  FormulaReader<Calculus>(formula, calculus).read();
}

} // namespace lstmc
