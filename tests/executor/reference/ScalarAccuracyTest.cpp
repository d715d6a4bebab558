// Every scalar operation in f32 within 4 ULP of the exact value.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "executor/base/FloatMode.h"
#include "executor/base/ScalarSemantics.h"

namespace lstmc {
namespace {

/// Distance of f32 `got` from `exact`, in units of the last place of f32 at `exact`. Denormals
/// count as 0.
double ulps(float got, long double exact) {
  constexpr long double kLeast = std::numeric_limits<float>::min(),
                        kMost = std::numeric_limits<float>::max();
  if (std::isnan(got) || std::isnan(exact))
    return std::isnan(got) == std::isnan(exact) ? 0 : INFINITY;
  if (std::isinf(got)) // correct if the exact value rounds to infinity, or is within 4 ULP of it
    return std::signbit(got) == std::signbit(exact) && std::fabs(exact) >= kMost * (1 - 0x1p-22L)
               ? 0
               : INFINITY;
  if (std::fabs(exact) < kLeast * (1 + 0x1p-21L))
    return std::fabs(got) <= kLeast * (1 + 0x1p-21L) ? 0 : INFINITY;
  if (std::isinf(exact))
    return std::fabs(got) >= kMost * (1 - 0x1p-22L) ? 0 : INFINITY;
  const int exponent = std::max(std::ilogb(exact), -126);
  return double(std::fabs(got - exact) / std::ldexp(1.0L, exponent - 23));
}

struct Function {
  ScalarOp op;
  long double (*exact)(long double a, long double b);
  double low, high; ///< of the operands
};

long double digammaBySeries(long double x) {
  long double low = 0;
  for (; x < 30; x += 1)
    low += 1 / x;
  long double s = 1 / (x * x);
  return std::log(x) - 0.5L / x -
         s * (1 / 12.0L - s * (1 / 120.0L - s * (1 / 252.0L - s * (1 / 240.0L - s / 132)))) - low;
}

/// By bisection of erf or erfc: slow, but a different method from the tested one.
long double erfinvByBisection(long double y) {
  long double low = 0, high = 7, a = std::fabs(y);
  if (a == 1)
    return std::copysign(INFINITY, y);
  for (int i = 0; i < 90; ++i) {
    long double middle = (low + high) / 2;
    (a < 0.5L ? std::erf(middle) < a : std::erfc(middle) > 1 - a) ? low = middle : high = middle;
  }
  return std::copysign(low, y);
}

using L = long double;
const Function kFunctions[] = {
    {ScalarOp::Add, [](L a, L b) { return a + b; }, -1e3, 1e3},
    {ScalarOp::Sub, [](L a, L b) { return a - b; }, -1e3, 1e3},
    {ScalarOp::Mul, [](L a, L b) { return a * b; }, -1e25, 1e25},
    {ScalarOp::Div, [](L a, L b) { return a / b; }, -1e3, 1e3},
    {ScalarOp::Pow, [](L a, L b) { return std::pow(a, b); }, 0, 12},
    {ScalarOp::Hypot, [](L a, L b) { return std::hypot(a, b); }, -1e30, 1e30},
    {ScalarOp::Fma, [](L a, L b) { return a * b; }, -1e3, 1e3},
    {ScalarOp::Sqrt, [](L a, L) { return std::sqrt(a); }, 0, 1e30},
    {ScalarOp::Cbrt, [](L a, L) { return std::cbrt(a); }, -1e30, 1e30},
    {ScalarOp::Exp, [](L a, L) { return std::exp(a); }, -105, 90},
    {ScalarOp::Expm1, [](L a, L) { return std::expm1(a); }, -20, 90},
    {ScalarOp::Log, [](L a, L) { return std::log(a); }, 0, 1e38},
    {ScalarOp::Log, [](L a, L) { return std::log(a); }, 0.5, 2},
    {ScalarOp::Log10, [](L a, L) { return std::log10(a); }, 0, 1e3},
    {ScalarOp::Log2, [](L a, L) { return std::log2(a); }, 0, 1e3},
    {ScalarOp::Log1p, [](L a, L) { return std::log1p(a); }, -1, 3},
    {ScalarOp::Sin, [](L a, L) { return std::sin(a); }, -100, 100},
    {ScalarOp::Cos, [](L a, L) { return std::cos(a); }, -100, 100},
    {ScalarOp::Tan, [](L a, L) { return std::tan(a); }, -10, 10},
    {ScalarOp::Asin, [](L a, L) { return std::asin(a); }, -1, 1},
    {ScalarOp::Acos, [](L a, L) { return std::acos(a); }, -1, 1},
    {ScalarOp::Atan, [](L a, L) { return std::atan(a); }, -100, 100},
    {ScalarOp::Sinh, [](L a, L) { return std::sinh(a); }, -90, 90},
    {ScalarOp::Cosh, [](L a, L) { return std::cosh(a); }, -90, 90},
    {ScalarOp::Tanh, [](L a, L) { return std::tanh(a); }, -10, 10},
    {ScalarOp::Tanh, [](L a, L) { return std::tanh(a); }, -1e-3, 1e-3},
    {ScalarOp::Asinh, [](L a, L) { return std::asinh(a); }, -100, 100},
    {ScalarOp::Acosh, [](L a, L) { return std::acosh(a); }, 1, 100},
    {ScalarOp::Atanh, [](L a, L) { return std::atanh(a); }, -1, 1},
    {ScalarOp::Gamma, [](L a, L) { return std::tgamma(a); }, 0.1, 36},
    {ScalarOp::LogGamma, [](L a, L) { return std::lgamma(a); }, 0.1, 1e4},
    {ScalarOp::Digamma, [](L a, L) { return digammaBySeries(a); }, 1e-3, 50},
    {ScalarOp::Erf, [](L a, L) { return std::erf(a); }, -4, 4},
    {ScalarOp::Erfinv, [](L a, L) { return erfinvByBisection(a); }, -1, 1},
    {ScalarOp::Sigmoid, [](L a, L) { return 1 / (1 + std::exp(-a)); }, -95, 30},
    {ScalarOp::SoftRelu, [](L a, L) { return std::log1p(std::exp(a)); }, -80, 80},
};

class ScalarAccuracy : public testing::TestWithParam<Function> {};

TEST_P(ScalarAccuracy, WithinFourUlp) {
  FloatMode mode;
  const Function &f = GetParam();
  double worst = 0;
  for (uint64_t i = 0; i < 20000; ++i) {
    // Half of the operands are evenly spaced; half are within 2^-24 to 1 of the range from its
    // ends.
    auto operand = [&](uint32_t series) {
      double u = randomUniform(1, i, series, 0), range = f.high - f.low;
      if (i % 2)
        u *= std::exp2(-24 * randomUniform(2, i, series, 0));
      return float(i % 4 == 1 ? f.high - range * u : f.low + range * u);
    };
    const float a = operand(0), b = operand(1);
    const double distance = ulps(evaluate<float>(f.op, a, b, 0.0f), f.exact(a, b));
    EXPECT_LE(distance, 4) << kScalarRecords[int(f.op)].name << "(" << a << ", " << b << ")";
    worst = std::max(worst, distance);
  }
  RecordProperty("worst_ulp", std::to_string(worst));
}

INSTANTIATE_TEST_SUITE_P(Functions, ScalarAccuracy, testing::ValuesIn(kFunctions),
                         [](const auto &info) {
                           return std::string(kScalarRecords[int(info.param.op)].name) + "_" +
                                  std::to_string(info.index);
                         });

TEST(Ulps, MeasuresWhatItSays) {
  EXPECT_EQ(ulps(1 + 0x1p-23f, 1), 1);
  EXPECT_EQ(ulps(1, 1 - 0x1p-24L), 1);
  EXPECT_EQ(ulps(NAN, 1), INFINITY);
  EXPECT_EQ(ulps(INFINITY, 1e30L), INFINITY);
  EXPECT_EQ(ulps(0, 1e-40L), 0);
}

} // namespace
} // namespace lstmc
