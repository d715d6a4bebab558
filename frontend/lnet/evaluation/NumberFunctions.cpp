#include "frontend/lnet/evaluation/NumberFunctions.h"

#include <algorithm>
#include <cmath>

namespace lstmc::lnet {

namespace {

struct OfOne {
  std::string_view op;
  double (*compute)(double);
  bool whole = false; ///< the result is an integer
};
constexpr OfOne kOfOne[] = {
    {"sqrt", [](double x) { return std::sqrt(x); }},
    {"rsqrt", [](double x) { return 1 / std::sqrt(x); }},
    {"cbrt", [](double x) { return std::cbrt(x); }},
    {"square", [](double x) { return x * x; }},
    {"reciprocal", [](double x) { return 1 / x; }},
    {"exp", [](double x) { return std::exp(x); }},
    {"expm1", [](double x) { return std::expm1(x); }},
    {"log", [](double x) { return std::log(x); }},
    {"log2", [](double x) { return std::log2(x); }},
    {"log10", [](double x) { return std::log10(x); }},
    {"log1p", [](double x) { return std::log1p(x); }},
    {"sin", [](double x) { return std::sin(x); }},
    {"cos", [](double x) { return std::cos(x); }},
    {"tan", [](double x) { return std::tan(x); }},
    {"arcsin", [](double x) { return std::asin(x); }},
    {"arccos", [](double x) { return std::acos(x); }},
    {"arctan", [](double x) { return std::atan(x); }},
    {"sinh", [](double x) { return std::sinh(x); }},
    {"cosh", [](double x) { return std::cosh(x); }},
    {"tanh", [](double x) { return std::tanh(x); }},
    {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
    {"relu", [](double x) { return std::max(x, 0.0); }},
    {"erf", [](double x) { return std::erf(x); }},
    {"gamma", [](double x) { return std::tgamma(x); }},
    {"floor", [](double x) { return std::floor(x); }, true},
    {"ceil", [](double x) { return std::ceil(x); }, true},
    {"trunc", [](double x) { return std::trunc(x); }, true},
};

struct OfTwo {
  std::string_view op;
  double (*compute)(double, double);
};
constexpr OfTwo kOfTwo[] = {
    {"_maximum", [](double a, double b) { return std::max(a, b); }},
    {"_minimum", [](double a, double b) { return std::min(a, b); }},
    {"_hypot", [](double a, double b) { return std::hypot(a, b); }},
    {"_power", [](double a, double b) { return std::pow(a, b); }},
};

} // namespace

std::optional<Value> numberOf(Run &run, const symbol::OpSignature &op, const Arguments &arguments) {
  auto &given = arguments.positional;
  if (arguments.unknown || !arguments.named.empty() ||
      !std::ranges::all_of(given, &Value::isNumber))
    return std::nullopt;
  std::optional<double> result;
  bool whole = false;
  if (given.size() == 1)
    for (const OfOne &row : kOfOne)
      if (row.op == op.name) {
        result = row.compute(given[0].number());
        whole = row.whole;
      }
  if (given.size() == 2)
    for (const OfTwo &row : kOfTwo)
      if (row.op == op.name)
        result = row.compute(given[0].number(), given[1].number());
  if (!result)
    return std::nullopt;
  Span span = arguments.call->span;
  std::string_view shown = run.at.module->file->text(span);
  if (std::isnan(*result))
    return run.error(ErrorCode::E0317, span, "{} is no real number", shown);
  if (!std::isfinite(*result) || (whole && std::fabs(*result) >= 0x1p63))
    return run.error(ErrorCode::E0304, span, "{} overflows", shown);
  return whole ? Value::integer(int64_t(*result)) : Value::number(*result);
}

} // namespace lstmc::lnet
