// exp, tanh, sigmoid, log: error against f64, and equal bits at every level and in the scalar form
// that the reference uses. Tests every 499th float; LSTMC_ALL_FLOATS=1 tests all 2^32 (some
// minutes).
#include "executor/base/ElementaryFunctions.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/runtime/Level.h"
#include "executor/base/FloatMode.h"
#include "executor/base/ScalarFloat.h"
#include "tests/executor/base/ElementaryLevels.h"

namespace lstmc::cpu {
namespace {

using Scalar = ScalarFloat<>;
constexpr float kSmallestNormal = std::numeric_limits<float>::min();

struct Case {
  const char *name;
  Elementary function;
  double (*exact)(double);
  Scalar (*own)(Scalar);
  double bound; ///< ULP; what ElementaryFunctions.h states
};

const Case kCases[] = {
    {"exp", Elementary::Exp, std::exp, exponential<Scalar>, 1.1},
    {"tanh", Elementary::Tanh, std::tanh, hyperbolicTangent<Scalar>, 2.6},
    {"sigmoid", Elementary::Sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); },
     sigmoid<Scalar>, 2.5},
    {"log", Elementary::Log, std::log, logarithm<Scalar>, 0.9},
};

bool sameBits(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

/// Distance in units of the last place of `want` as f32; infinite if only one of the two is
/// special. Denormal results count as 0.
double errorInUlp(float got, double want) {
  if (std::isnan(want) || std::isnan(got))
    return std::isnan(want) && std::isnan(got) ? 0 : INFINITY;
  if (std::fabs(want) < kSmallestNormal)
    return std::fabs(got) <= kSmallestNormal ? 0 : INFINITY;
  float rounded = float(want);
  if (std::isinf(rounded) || std::isinf(got))
    return rounded == got ? 0 : INFINITY;
  double ulp = std::ldexp(1.0, std::max(std::ilogb(want), -126) - 23);
  return std::fabs(double(got) - want) / ulp;
}

class ElementaryFunctions : public testing::TestWithParam<Case> {};

TEST_P(ElementaryFunctions, StayWithinTheirBoundAndEqualOnAllLevels) {
  FloatMode mode;
  const char *all = std::getenv("LSTMC_ALL_FLOATS");
  const uint64_t stride =
      all && *all == '1' ? 1 : 499; // a prime, so that all mantissas and exponents occur
  constexpr size_t kBlock = 4096;
  std::vector<float> x(kBlock), y(kBlock), other(kBlock);
  double worst = 0;
  float worstAt = 0;
  for (uint64_t bits = 0; bits < uint64_t(1) << 32;) {
    for (float &value : x) {
      value = std::bit_cast<float>(uint32_t(bits));
      bits += stride;
    }
    scalar::evaluate(GetParam().function, x.data(), y.data(), kBlock);
    for (size_t i = 0; i < kBlock; ++i) {
      double in = std::fabs(x[i]) < kSmallestNormal ? 0.0 : double(x[i]);
      double error = errorInUlp(y[i], GetParam().exact(in));
      if (error > worst) {
        worst = error;
        worstAt = x[i];
      }
      ASSERT_TRUE(sameBits(y[i], GetParam().own(Scalar{x[i]}).v)) << "reference at " << x[i];
    }
    if (machineLevel() >= Level::Avx2) {
      avx2::evaluate(GetParam().function, x.data(), other.data(), kBlock);
      for (size_t i = 0; i < kBlock; ++i)
        ASSERT_TRUE(sameBits(y[i], other[i]))
            << "avx2 at " << x[i] << ": " << other[i] << ", not " << y[i];
    }
    if (machineLevel() >= Level::Avx512) {
      avx512::evaluate(GetParam().function, x.data(), other.data(), kBlock);
      for (size_t i = 0; i < kBlock; ++i)
        ASSERT_TRUE(sameBits(y[i], other[i]))
            << "avx512 at " << x[i] << ": " << other[i] << ", not " << y[i];
    }
  }
  RecordProperty("worst", std::to_string(worst));
  EXPECT_LE(worst, GetParam().bound) << "at " << worstAt;
}

INSTANTIATE_TEST_SUITE_P(All, ElementaryFunctions, testing::ValuesIn(kCases),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(ElementaryFunctions, TakeSpecialValuesToTheirLimits) {
  FloatMode mode;
  const float inf = INFINITY;
  auto at = [](auto function, float x) { return function(Scalar{x}).v; };
  EXPECT_EQ(at(exponential<Scalar>, inf), inf);
  EXPECT_EQ(at(exponential<Scalar>, -inf), 0.0f);
  EXPECT_EQ(at(exponential<Scalar>, 0.0f), 1.0f);
  EXPECT_EQ(at(exponential<Scalar>, 88.8f), inf);
  EXPECT_EQ(at(sigmoid<Scalar>, -inf), 0.0f);
  EXPECT_EQ(at(sigmoid<Scalar>, inf), 1.0f);
  EXPECT_EQ(at(sigmoid<Scalar>, 0.0f), 0.5f);
  EXPECT_EQ(at(hyperbolicTangent<Scalar>, inf), 1.0f);
  EXPECT_EQ(at(hyperbolicTangent<Scalar>, -inf), -1.0f);
  EXPECT_TRUE(sameBits(at(hyperbolicTangent<Scalar>, -0.0f), -0.0f));
  EXPECT_EQ(at(logarithm<Scalar>, 0.0f), -inf);
  EXPECT_EQ(at(logarithm<Scalar>, inf), inf);
  EXPECT_EQ(at(logarithm<Scalar>, 1.0f), 0.0f);
  EXPECT_TRUE(std::isnan(at(logarithm<Scalar>, -1.0f)));
  for (auto function :
       {exponential<Scalar>, sigmoid<Scalar>, hyperbolicTangent<Scalar>, logarithm<Scalar>})
    EXPECT_TRUE(std::isnan(at(function, NAN)));
}

} // namespace
} // namespace lstmc::cpu
