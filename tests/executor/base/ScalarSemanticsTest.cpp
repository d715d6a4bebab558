#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "executor/base/FloatMode.h"
#include "executor/base/ScalarSemantics.h"

namespace lstmc {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();

float f32(ScalarOp op, float a, float b = 0, float c = 0) { return evaluate<float>(op, a, b, c); }
int32_t i32(ScalarOp op, int32_t a, int32_t b = 0, int32_t c = 0) {
  return evaluate<int32_t>(op, a, b, c);
}

TEST(ScalarSemantics, IntegersWrapAndNeverTrap) {
  EXPECT_EQ(i32(ScalarOp::Add, 2147483647, 1), kLeast);
  EXPECT_EQ(i32(ScalarOp::Mul, 65536, 65537), 65536);
  EXPECT_EQ(i32(ScalarOp::Neg, kLeast), kLeast);
  EXPECT_EQ(i32(ScalarOp::Abs, kLeast), kLeast);
  EXPECT_EQ(i32(ScalarOp::Div, 7, 0), 0);
  EXPECT_EQ(i32(ScalarOp::Div, -7, 2), -3);
  EXPECT_EQ(i32(ScalarOp::Div, kLeast, -1), kLeast);
  EXPECT_EQ(i32(ScalarOp::Mod, kLeast, -1), 0);
  EXPECT_EQ(i32(ScalarOp::Mod, 7, 0), 0);
  EXPECT_EQ(i32(ScalarOp::Fma, 3, 4, 5), 17);
  EXPECT_EQ(i32(ScalarOp::Sqrt, 17), 4);
  EXPECT_EQ(i32(ScalarOp::Exp, 100), 2147483647);
}

// The same as Python's %.
TEST(ScalarSemantics, ModuloHasTheSignOfTheDivisor) {
  EXPECT_EQ(i32(ScalarOp::Mod, 7, 3), 1);
  EXPECT_EQ(i32(ScalarOp::Mod, -7, 3), 2);
  EXPECT_EQ(i32(ScalarOp::Mod, 7, -3), -2);
  EXPECT_EQ(i32(ScalarOp::Mod, -7, -3), -1);
  EXPECT_EQ(f32(ScalarOp::Mod, 5.5f, 2), 1.5f);
  EXPECT_EQ(f32(ScalarOp::Mod, -5.5f, 2), 0.5f);
  EXPECT_EQ(f32(ScalarOp::Mod, 5.5f, -2), -0.5f);
  EXPECT_EQ(f32(ScalarOp::Mod, 5.5f, 0), 0);
}

TEST(ScalarSemantics, MaximumAndMinimum) {
  EXPECT_TRUE(std::isnan(f32(ScalarOp::Max, kNaN, 1)));
  EXPECT_TRUE(std::isnan(f32(ScalarOp::Max, 1, kNaN)));
  EXPECT_TRUE(std::isnan(f32(ScalarOp::Min, kNaN, 1)));
  EXPECT_TRUE(std::signbit(f32(ScalarOp::Max, 0.0f, -0.0f))); // equal: the second operand
  EXPECT_FALSE(std::signbit(f32(ScalarOp::Max, -0.0f, 0.0f)));
  EXPECT_EQ(f32(ScalarOp::Max, -2, 3), 3);
  EXPECT_EQ(f32(ScalarOp::Min, -2, 3), -2);
  EXPECT_EQ(i32(ScalarOp::Max, -2, 3), 3);
  EXPECT_EQ(f32(ScalarOp::Max, 1e-40f, -1), 0); // a denormal counts as 0
}

TEST(ScalarSemantics, Rounding) {
  const float x[] = {-2.5f, -1.5f, -0.5f, 0.5f, 1.5f, 2.5f, 2.4f};
  const float round[] = {-3, -2, -1, 1, 2, 3, 2}, rint[] = {-3, -2, -1, 0, 1, 2, 2};
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(f32(ScalarOp::Round, x[i]), round[i]);
    EXPECT_EQ(f32(ScalarOp::Rint, x[i]), rint[i]);
    EXPECT_EQ(f32(ScalarOp::Floor, x[i]), std::floor(x[i]));
    EXPECT_EQ(f32(ScalarOp::Ceil, x[i]), std::ceil(x[i]));
    EXPECT_EQ(f32(ScalarOp::Trunc, x[i]), std::trunc(x[i]));
  }
  EXPECT_EQ(f32(ScalarOp::Rint, kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(f32(ScalarOp::Rint, kNaN)));
}

TEST(ScalarSemantics, SignsAndLogic) {
  EXPECT_EQ(f32(ScalarOp::Sign, -3), -1);
  EXPECT_EQ(f32(ScalarOp::Sign, -0.0f), 0);
  EXPECT_TRUE(std::isnan(f32(ScalarOp::Sign, kNaN)));
  EXPECT_TRUE(evaluate<bool>(ScalarOp::Xor, true, false));
  EXPECT_FALSE(evaluate<bool>(ScalarOp::Not, true));
  EXPECT_FALSE(compare<float>(ScalarOp::Equal, kNaN, kNaN));
  EXPECT_TRUE(compare<float>(ScalarOp::NotEqual, kNaN, kNaN));
  EXPECT_FALSE(compare<float>(ScalarOp::GreaterEqual, kNaN, 0));
  EXPECT_TRUE(compare<float>(ScalarOp::LessEqual, -0.0f, 0));
}

TEST(ScalarSemantics, FmaRoundsOnce) {
  const float a = 1 + 0x1p-12f;
  EXPECT_EQ(f32(ScalarOp::Fma, a, a, -1), 0x1p-11f + 0x1p-24f);
  EXPECT_EQ(a * a - 1, 0x1p-11f);
}

TEST(ScalarSemantics, DenormalsCountAsZero) {
  FloatMode mode;
  volatile float tiny = 1e-40f, small = 1e-30f;
  EXPECT_EQ(f32(ScalarOp::Mul, small, small), 0);
  EXPECT_EQ(f32(ScalarOp::Add, tiny, tiny), 0);
  EXPECT_EQ(f32(ScalarOp::Log, tiny), -kInfinity);
  EXPECT_TRUE(compare<float>(ScalarOp::Equal, tiny, 0));
}

// psi(1) = -gamma, psi(1/2) = -gamma - 2 ln 2, psi(x+1) = psi(x) + 1/x, psi(1-x) - psi(x) = pi
// cot(pi x).
TEST(ScalarSemantics, Digamma) {
  constexpr double kGamma = 0.577215664901532860607;
  auto psi = [](double x) { return evaluate<double>(ScalarOp::Digamma, x); };
  EXPECT_NEAR(psi(1), -kGamma, 4e-15);
  EXPECT_NEAR(psi(0.5), -kGamma - 2 * std::log(2.0), 4e-15);
  for (double x : {0.1, 0.9, 2.5, 5.9, 6.1, 40.3, 1000.25}) {
    EXPECT_NEAR(psi(x + 1), psi(x) + 1 / x, 4e-15 * std::fabs(psi(x)) + 4e-15) << x;
    EXPECT_NEAR(psi(-x), psi(1 + x) + M_PI / std::tan(M_PI * x), 1e-9 * std::fabs(psi(-x))) << x;
  }
  EXPECT_TRUE(std::isnan(psi(0)));
  EXPECT_TRUE(std::isnan(psi(-3)));
  EXPECT_FALSE(std::isnan(psi(-1e15 - 0.5))); // and it takes no time
}

TEST(ScalarSemantics, ErfinvUndoesErf) {
  for (double y : {1e-300, 1e-9, 0.01, 0.3, 0.499, 0.5, 0.501, 0.9, 0.99999, 1 - 1e-9})
    for (double sign : {-1, 1}) {
      double x = evaluate<double>(ScalarOp::Erfinv, sign * y);
      // An error of x gives an error of y times d erf/dx; near 1 the residual is that of erfc.
      double residual = y < 0.5 ? std::erf(std::fabs(x)) - y : std::erfc(std::fabs(x)) - (1 - y);
      double slope = 2 / std::sqrt(M_PI) * std::exp(-x * x);
      EXPECT_LE(std::fabs(residual / slope), 8e-16 * std::fabs(x)) << y;
      EXPECT_EQ(std::signbit(x), sign < 0);
    }
  EXPECT_EQ(f32(ScalarOp::Erfinv, 1), kInfinity);
  EXPECT_EQ(f32(ScalarOp::Erfinv, -1), -kInfinity);
  EXPECT_TRUE(std::isnan(f32(ScalarOp::Erfinv, 1.5f)));
}

TEST(ScalarSemantics, InstructionsWithTypes) {
  auto run = [](ScalarOp op, DType type, ScalarValue a, ScalarValue b = {}, ScalarValue c = {}) {
    return evaluate(op, type, a, b, c, 2.5, 6);
  };
  EXPECT_EQ(run(ScalarOp::Constant, DType::I32, {}).i32, 2);
  EXPECT_EQ(run(ScalarOp::Constant, DType::F64, {}).f64, 2.5);
  ScalarValue cast = run(ScalarOp::Cast, DType::I64, ScalarValue::of(-3.7f));
  EXPECT_EQ(cast.type, DType::I64);
  EXPECT_EQ(cast.i64, -3);
  ScalarValue less = run(ScalarOp::Less, DType::Bool, ScalarValue::of(int64_t(1) << 60),
                         ScalarValue::of((int64_t(1) << 60) + 1));
  EXPECT_EQ(less.type, DType::Bool);
  EXPECT_TRUE(less.boolean); // compared as i64
  EXPECT_EQ(run(ScalarOp::Select, DType::F32, ScalarValue::of(true), ScalarValue::of(1.0f),
                ScalarValue::of(2.0f))
                .f32,
            1);
  EXPECT_EQ(run(ScalarOp::Select, DType::F32, ScalarValue::of(false), ScalarValue::of(1.0f),
                ScalarValue::of(2.0f))
                .f32,
            2);
  EXPECT_EQ(
      run(ScalarOp::Uniform, DType::F32, ScalarValue::of(int64_t(9)), ScalarValue::of(int64_t(4)))
          .f32,
      float(randomUniform(9, 6, 2, 4)));
}

} // namespace
} // namespace lstmc
