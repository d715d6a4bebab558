// The functions in f64 against the long double ones of the C library: an own error bound for each,
// its special values, and the same bits in every mode and with or without an instruction for fma.
#include "executor/base/functions/Functions.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "executor/base/FloatMode.h"
#include "executor/base/ScalarFunctions.h"

namespace lstmc {
namespace {

using L = long double;
constexpr double kLeast = std::numeric_limits<double>::min(),
                 kMost = std::numeric_limits<double>::max();

L digammaBySeries(L x) {
  if (x <= 0)
    return digammaBySeries(1 - x) - M_PIl / std::tan(M_PIl * (x - std::round(x)));
  L low = 0;
  for (; x < 40; x += 1)
    low += 1 / x;
  const L s = 1 / (x * x);
  return std::log(x) - 0.5L / x - low -
         s * (1 / 12.0L -
              s * (1 / 120.0L - s * (1 / 252.0L - s * (1 / 240.0L - s * (1 / 132.0L)))));
}

/// By bisection of erf or erfc.
L erfinvByBisection(L y) {
  L low = 0, high = 7;
  const L a = std::fabs(y);
  for (int i = 0; i < 140; ++i) {
    const L middle = (low + high) / 2;
    (a < 0.5L ? std::erf(middle) < a : std::erfc(middle) > 1 - a) ? low = middle : high = middle;
  }
  return std::copysign(low, y);
}

L moduloByC(L a, L b) {
  const L rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

enum class Spread { Even, Powers }; ///< arguments: evenly spaced, or their logarithms are

struct Function {
  ScalarOp op;
  L (*exact)(L a, L b);
  double bound; ///< ULP
  double low, high;
  Spread spread = Spread::Even;
  double floor = 0; ///< the bound is that of a result of this size, where results are smaller
};

using enum Spread;
const Function kFunctions[] = {
    {ScalarOp::Exp, [](L a, L) { return std::exp(a); }, 0.52, -745, 710},
    {ScalarOp::Exp, [](L a, L) { return std::exp(a); }, 0.52, 1e-20, 1, Powers},
    {ScalarOp::Expm1, [](L a, L) { return std::expm1(a); }, 0.55, -60, 710},
    {ScalarOp::Expm1, [](L a, L) { return std::expm1(a); }, 0.55, 1e-20, 2, Powers},
    {ScalarOp::Sigmoid, [](L a, L) { return 1 / (1 + std::exp(-a)); }, 0.52, -745, 80},
    {ScalarOp::Sigmoid, [](L a, L) { return 1 / (1 + std::exp(-a)); }, 0.52, -5, 5},
    {ScalarOp::Tanh, [](L a, L) { return std::tanh(a); }, 0.53, -25, 25},
    {ScalarOp::Tanh, [](L a, L) { return std::tanh(a); }, 0.53, 1e-20, 2, Powers},
    {ScalarOp::Sinh, [](L a, L) { return std::sinh(a); }, 0.53, -711, 711},
    {ScalarOp::Sinh, [](L a, L) { return std::sinh(a); }, 0.53, 1e-20, 2, Powers},
    {ScalarOp::Cosh, [](L a, L) { return std::cosh(a); }, 0.53, -711, 711},
    {ScalarOp::Cosh, [](L a, L) { return std::cosh(a); }, 0.53, 1e-20, 50, Powers},
    {ScalarOp::Log, [](L a, L) { return std::log(a); }, 0.55, kLeast, kMost, Powers},
    {ScalarOp::Log, [](L a, L) { return std::log(a); }, 0.55, 0.5, 2},
    {ScalarOp::Log, [](L a, L) { return std::log(a); }, 0.55, 0.9999, 1.0001},
    {ScalarOp::Log2, [](L a, L) { return std::log2(a); }, 0.55, kLeast, kMost, Powers},
    {ScalarOp::Log2, [](L a, L) { return std::log2(a); }, 0.55, 0.5, 2},
    {ScalarOp::Log10, [](L a, L) { return std::log10(a); }, 0.55, kLeast, kMost, Powers},
    {ScalarOp::Log10, [](L a, L) { return std::log10(a); }, 0.55, 0.5, 2},
    {ScalarOp::Log1p, [](L a, L) { return std::log1p(a); }, 0.75, 1e-20, kMost, Powers},
    {ScalarOp::Log1p, [](L a, L) { return std::log1p(a); }, 0.75, -1, 3},
    {ScalarOp::SoftRelu,
     [](L a, L) { return a > 0 ? a + std::log1p(std::exp(-a)) : std::log1p(std::exp(a)); }, 1, -708,
     80},
    {ScalarOp::SoftRelu, [](L a, L) { return std::log1p(std::exp(a)); }, 1, -5, 5},
    {ScalarOp::Asinh, [](L a, L) { return std::asinh(a); }, 0.55, 1e-20, kMost, Powers},
    {ScalarOp::Asinh, [](L a, L) { return std::asinh(a); }, 0.55, -5, 5},
    {ScalarOp::Acosh, [](L a, L) { return std::acosh(a); }, 0.55, 1, kMost, Powers},
    {ScalarOp::Acosh, [](L a, L) { return std::acosh(a); }, 0.55, 1, 1.01},
    {ScalarOp::Atanh, [](L a, L) { return std::atanh(a); }, 0.55, 1e-20, 1, Powers},
    {ScalarOp::Atanh, [](L a, L) { return std::atanh(a); }, 0.55, -1, 1},
    {ScalarOp::Pow, [](L a, L b) { return std::pow(a, b); }, 0.53, 0, 20},
    {ScalarOp::Pow, [](L a, L b) { return std::pow(a, b); }, 0.53, 1e-3, 1e3, Powers},
    {ScalarOp::Cbrt, [](L a, L) { return std::cbrt(a); }, 0.53, kLeast, kMost, Powers},
    {ScalarOp::Hypot, [](L a, L b) { return std::hypot(a, b); }, 0.51, -5, 5},
    {ScalarOp::Hypot, [](L a, L b) { return std::hypot(a, b); }, 0.51, 1e-300, 1e300, Powers},
    {ScalarOp::Sin, [](L a, L) { return std::sin(a); }, 0.78, -100, 100},
    {ScalarOp::Sin, [](L a, L) { return std::sin(a); }, 0.78, -1.1e6, 1.1e6},
    {ScalarOp::Sin, [](L a, L) { return std::sin(a); }, 0.78, 1e-20, kMost, Powers},
    {ScalarOp::Cos, [](L a, L) { return std::cos(a); }, 0.78, -100, 100},
    {ScalarOp::Cos, [](L a, L) { return std::cos(a); }, 0.78, 1e-20, kMost, Powers},
    {ScalarOp::Tan, [](L a, L) { return std::tan(a); }, 0.95, -100, 100},
    {ScalarOp::Tan, [](L a, L) { return std::tan(a); }, 0.95, 1e-20, kMost, Powers},
    {ScalarOp::Asin, [](L a, L) { return std::asin(a); }, 0.52, -1, 1},
    {ScalarOp::Asin, [](L a, L) { return std::asin(a); }, 0.52, 1e-20, 1, Powers},
    {ScalarOp::Acos, [](L a, L) { return std::acos(a); }, 0.52, -1, 1},
    {ScalarOp::Acos, [](L a, L) { return std::acos(a); }, 0.52, 1e-20, 1, Powers},
    {ScalarOp::Atan, [](L a, L) { return std::atan(a); }, 0.52, -3, 3},
    {ScalarOp::Atan, [](L a, L) { return std::atan(a); }, 0.52, 1e-20, kMost, Powers},
    {ScalarOp::Gamma, [](L a, L) { return std::tgamma(a); }, 0.85, 0.01, 171.6},
    {ScalarOp::Gamma, [](L a, L) { return std::tgamma(a); }, 0.85, 1e-20, 3, Powers},
    {ScalarOp::Gamma, [](L a, L) { return std::tgamma(a); }, 0.85, -30, 0},
    {ScalarOp::LogGamma, [](L a, L) { return std::lgamma(a); }, 0.8, 0.01, 50},
    {ScalarOp::LogGamma, [](L a, L) { return std::lgamma(a); }, 0.8, 1e-20, 1e300, Powers},
    {ScalarOp::LogGamma, [](L a, L) { return std::lgamma(a); }, 0.8, 0.9, 2.1},
    {ScalarOp::LogGamma, [](L a, L) { return std::lgamma(a); }, 0.8, -30, 0, Even, 0.25},
    {ScalarOp::Digamma, [](L a, L) { return digammaBySeries(a); }, 0.6, 0.01, 50, Even, 0.25},
    {ScalarOp::Digamma, [](L a, L) { return digammaBySeries(a); }, 0.6, 1e-10, 1e5, Powers, 0.25},
    {ScalarOp::Digamma, [](L a, L) { return digammaBySeries(a); }, 4, -20, 0, Even, 0.25},
    {ScalarOp::Erf, [](L a, L) { return std::erf(a); }, 0.95, -6.5, 6.5},
    {ScalarOp::Erf, [](L a, L) { return std::erf(a); }, 0.95, 1e-20, 2, Powers},
    {ScalarOp::Erfinv, [](L a, L) { return erfinvByBisection(a); }, 1.4, -1, 1},
    {ScalarOp::Erfinv, [](L a, L) { return erfinvByBisection(a); }, 1.4, 1e-12, 1, Powers},
    {ScalarOp::Mod, moduloByC, 0.51, -50, 50},
    {ScalarOp::Mod, moduloByC, 0.51, 1e-300, 1e300, Powers},
};

/// Distance of `got` from `exact` in ULP of f64, of a number of at least `floor`; infinite if only
/// one of them is special. Denormals count as 0.
double ulps(double got, L exact, double floor) {
  const auto nearest = double(exact);
  if (std::isnan(got) || std::isnan(nearest))
    return std::isnan(got) == std::isnan(nearest) ? 0 : INFINITY;
  if (std::isinf(got) || std::isinf(nearest))
    return got == nearest ? 0 : INFINITY;
  if (std::fabs(exact) < kLeast)
    return std::fabs(got) <= kLeast ? 0 : INFINITY;
  const L size = std::max(std::fabs(exact), L(floor));
  return double(std::fabs(got - exact) / std::ldexp(L(1), std::ilogb(size) - 52));
}

bool sameBits(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

double flushing(ScalarOp op, double a, double b) {
  const FloatMode mode;
  return functionInF64(op, a, b);
}

class Functions : public testing::TestWithParam<Function> {};

TEST_P(Functions, StayWithinTheirBound) {
  const Function &f = GetParam();
  std::mt19937_64 random(1);
  auto argument = [&] {
    const double u = double(random() >> 11) * 0x1p-53;
    return f.spread == Even ? f.low + u * (f.high - f.low)
                            : std::exp(std::log(f.low) + u * (std::log(f.high) - std::log(f.low)));
  };
  double worst = 0, worstA = 0, worstB = 0;
  for (int i = 0; i < 10000; ++i) {
    const double a = argument(), b = argument(), got = functionInF64(f.op, a, b);
    ASSERT_TRUE(sameBits(got, flushing(f.op, a, b))) << "other bits in a mode, at " << a;
    ASSERT_TRUE(sameBits(got, real::evaluate(f.op, a, b))) << "other bits without fma, at " << a;
    const double error = ulps(got, f.exact(a, b), f.floor);
    if (error > worst) {
      worst = error;
      worstA = a;
      worstB = b;
    }
  }
  RecordProperty("worst_ulp", std::to_string(worst));
  EXPECT_LE(worst, f.bound) << "at " << worstA << ", " << worstB;
}

INSTANTIATE_TEST_SUITE_P(All, Functions, testing::ValuesIn(kFunctions), [](const auto &info) {
  return std::string(kScalarRecords[int(info.param.op)].name) + "_" + std::to_string(info.index);
});

/// Infinities, zeros, poles and the ends of the ranges.
TEST(Functions, TakeSpecialArguments) {
  const double kArguments[] = {0,      1,     2,     3,     0.5,     0.1,        1e-5,
                               171,    172,   1e300, kMost, kLeast,  1e-308 * 3, 0x1p52,
                               0x1p53, 709.9, 745.2, 1e17,  INFINITY};
  for (const Function &f : kFunctions)
    for (double a : kArguments)
      for (double b : kArguments)
        for (int signs = 0; signs < 4; ++signs) {
          const double x = signs & 1 ? -a : a, y = signs & 2 ? -b : b;
          if ((f.op == ScalarOp::Erfinv || f.op == ScalarOp::Digamma) && !(a > 1e-6 && a < 1))
            continue; // their judges are not made for these
          // By 0 it has a meaning of its own; a denormal remainder counts as 0; and beyond 2^53
          // times b the sum with b is not exact in x87 either.
          if (f.op == ScalarOp::Mod && (b < 1e-300 || a > 1e30 || b == INFINITY))
            continue;
          if (f.op == ScalarOp::LogGamma && x < 0 && a > 1e15)
            continue;
          const L exact = f.op == ScalarOp::SoftRelu && x > 100 ? L(x) : f.exact(x, y);
          const double got = functionInF64(f.op, x, y);
          EXPECT_LE(ulps(got, exact, f.floor), f.bound)
              << kScalarRecords[int(f.op)].name << "(" << x << ", " << y << ") is " << got
              << ", not " << double(exact);
          EXPECT_TRUE(sameBits(got, flushing(f.op, x, y)));
        }
}

TEST(Functions, KeepNaN) {
  for (const Function &f : kFunctions)
    if (f.op != ScalarOp::Hypot) {
      EXPECT_TRUE(std::isnan(functionInF64(f.op, NAN, 2))) << kScalarRecords[int(f.op)].name;
    }
  EXPECT_EQ(functionInF64(ScalarOp::Hypot, NAN, INFINITY), INFINITY);
  EXPECT_EQ(functionInF64(ScalarOp::Pow, NAN, 0), 1);
}

TEST(Functions, KeepTheSignOfZero) {
  for (ScalarOp op : {ScalarOp::Sin, ScalarOp::Tan, ScalarOp::Asin, ScalarOp::Atan, ScalarOp::Sinh,
                      ScalarOp::Tanh, ScalarOp::Asinh, ScalarOp::Atanh, ScalarOp::Expm1,
                      ScalarOp::Log1p, ScalarOp::Erf, ScalarOp::Erfinv, ScalarOp::Cbrt}) {
    EXPECT_TRUE(sameBits(functionInF64(op, -0.0), -0.0)) << kScalarRecords[int(op)].name;
    EXPECT_TRUE(sameBits(functionInF64(op, -1e-310), -0.0)) << kScalarRecords[int(op)].name;
    EXPECT_TRUE(sameBits(functionInF64(op, 0.0), 0.0)) << kScalarRecords[int(op)].name;
  }
}

} // namespace
} // namespace lstmc
