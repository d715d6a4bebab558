// f64 on GPUs flushes denormals by hand: to the bits of a CPU that flushes them itself.
#include <bit>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "backends/cuda/kernels/Double.h"
#include "executor/base/FloatMode.h"

namespace lstmc::gpu {
namespace {

/// Numbers around the smallest normal one, and any others.
std::vector<double> numbers() {
  std::mt19937_64 random(1);
  std::vector<double> all = {0.0, -0.0, HUGE_VAL, -HUGE_VAL, 0x1p-1022, 0x1p-1074, 0x0.8p-1022};
  for (int i = 0; i < 300; ++i) {
    const uint64_t exponent = i % 3 == 0 ? random() % 2047 : random() % 4;
    all.push_back(std::bit_cast<double>((random() & ~(uint64_t(0x7ff) << 52)) | exponent << 52));
  }
  for (int i = 0; i < 100; ++i)
    all.push_back(std::ldexp(1 + double(random() % 1000) / 1000, -511 - int(random() % 3)));
  return all;
}

/// In the float mode of kernels, without inlining, so that no compiler computes it beforehand.
template <typename F> [[gnu::noinline]] double flushing(F f, double a, double b, double c) {
  const FloatMode mode;
  volatile double x = a, y = b, z = c;
  volatile double result = f(x, y, z);
  return result;
}

template <typename Own, typename Plain> void expectEqual(Own own, Plain plain) {
  const std::vector<double> all = numbers();
  for (double a : all)
    for (double b : all) {
      const double c = -a * b;
      const double want = flushing(plain, a, b, c), found = own(Double{a}, Double{b}, Double{c}).v;
      ASSERT_TRUE(std::bit_cast<uint64_t>(want) == std::bit_cast<uint64_t>(found) ||
                  (want != want && found != found))
          << std::hexfloat << a << " " << b << ": found " << found << ", want " << want;
    }
}

TEST(Double, FlushesAsACpuDoes) {
  using D = Double;
  expectEqual([](D a, D b, D) { return a + b; }, [](double a, double b, double) { return a + b; });
  expectEqual([](D a, D b, D) { return a - b; }, [](double a, double b, double) { return a - b; });
  expectEqual([](D a, D b, D) { return a * b; }, [](double a, double b, double) { return a * b; });
  expectEqual([](D a, D b, D) { return a / b; }, [](double a, double b, double) { return a / b; });
  expectEqual([](D a, D b, D c) { return multiplyAdd(a, b, c); },
              [](double a, double b, double c) { return __builtin_fma(a, b, c); });
  expectEqual([](D a, D, D) { return root(a); },
              [](double a, double, double) { return __builtin_sqrt(a); });
}

TEST(Double, ComparesDenormalsAsZero) {
  const Double tiny = {0x1p-1074}, zero = {-0.0};
  EXPECT_TRUE(tiny == zero);
  EXPECT_FALSE(zero < tiny);
  EXPECT_EQ((-tiny).v, -0x1p-1074);
  EXPECT_EQ(abs(-tiny).v, 0x1p-1074);
}

} // namespace
} // namespace lstmc::gpu
