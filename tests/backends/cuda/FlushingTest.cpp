// Arithmetic that flushes denormals by hand has the bits of a CPU that flushes them itself, in f64
// (GPUs) and f32 (the emulated GPU).
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cuda/emulated/Machine.h"
#include "backends/cuda/kernels/Double.h"
#include "executor/base/FloatMode.h"

namespace lstmc::gpu {
namespace {

template <typename T> struct Operands {
  T a, b, c;
};

/// Not inlined, so that no compiler moves the arithmetic out of the caller's floating-point mode.
template <typename T, typename R, typename F>
[[gnu::noinline]] void compute(F f, std::span<const Operands<T>> all, std::span<R> results) {
  for (size_t i = 0; i < all.size(); ++i)
    results[i] = f(all[i].a, all[i].b, all[i].c);
}

/// Random operands, of which the results are about the smallest normal number.
template <typename T> class Draw {
public:
  static constexpr int kSmallest = std::numeric_limits<T>::min_exponent - 1;
  static constexpr int kDigits = std::numeric_limits<T>::digits;

  uint64_t word() { return random_(); }
  int below(int bound) { return int(random_() % uint64_t(bound)); }
  T signedBy(T x) { return random_() & 1 ? x : -x; }
  T power(int exponent) { return std::ldexp(T(1), exponent); }
  /// In [1, 2) * 2^exponent; one of four within four ULP of the ends.
  T number(int exponent) {
    const uint64_t bits = random_() >> (65 - kDigits);
    const uint64_t all = (uint64_t(1) << (kDigits - 1)) - 1;
    const int choice = below(8);
    const uint64_t fraction = choice == 0 ? bits % 4 : choice == 1 ? all - bits % 4 : bits;
    return std::ldexp(T(1) + std::ldexp(T(fraction), 1 - kDigits), exponent);
  }
  /// x, up to three ULP away.
  T near(T x) {
    for (int steps = below(7) - 3; steps != 0; steps += steps < 0 ? 1 : -1)
      x = std::nextafter(x, steps < 0 ? T(0) : std::numeric_limits<T>::infinity());
    return x;
  }
  /// Any number, a denormal, a zero, an infinity, or NaN.
  T any() {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    const T special[] = {T(0),
                         power(kSmallest),
                         std::numeric_limits<T>::denorm_min(),
                         std::numeric_limits<T>::max(),
                         std::numeric_limits<T>::infinity(),
                         std::numeric_limits<T>::quiet_NaN()};
    switch (below(4)) {
    case 0:
      return signedBy(special[below(std::size(special))]);
    case 1:
      return std::bit_cast<T>(Bits(random_()));
    case 2:
      return signedBy(number(kSmallest - below(kDigits)));
    default:
      return signedBy(number(kSmallest + below(4)));
    }
  }
  Operands<T> anything() { return {any(), any(), any()}; }

private:
  std::mt19937_64 random_{1};
};

template <typename R, typename T> bool same(T a, T b) {
  return std::bit_cast<R>(a) == std::bit_cast<R>(b) || (a != a && b != b);
}

/// Half of the operands come from `draw`, the others are anything.
template <typename T, typename Own, typename Plain, typename DrawOperands>
void expectEqual(Own own, Plain plain, DrawOperands draw) {
  using R = decltype(plain(T(), T(), T()));
  using Bits = std::conditional_t<sizeof(R) == 4, uint32_t, uint64_t>;
  constexpr int kRounds = 64, kCount = 1 << 16;
  Draw<T> random;
  std::vector<Operands<T>> all(kCount);
  std::vector<R> found(kCount), want(kCount);
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kCount; ++i)
      all[i] = i % 2 ? random.anything() : draw(random);
    compute<T, R>(own, all, found);
    {
      const FloatMode flushing;
      compute<T, R>(plain, all, want);
    }
    for (int i = 0; i < kCount; ++i)
      ASSERT_TRUE((same<Bits>(found[i], want[i])))
          << std::hexfloat << all[i].a << " " << all[i].b << " " << all[i].c << ": found "
          << found[i] << ", want " << want[i];
  }
}

template <typename T> class Flushing : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Flushing, Types);

TYPED_TEST(Flushing, SumsAsACpuDoes) {
  using T = TypeParam;
  auto draw = [](Draw<T> &random) -> Operands<T> {
    const T a = random.signedBy(random.number(Draw<T>::kSmallest + random.below(3)));
    return {a, random.signedBy(random.near(std::abs(a))), 0};
  };
  expectEqual<T>([](T a, T b, T) { return flushing::sum(a, b); }, [](T a, T b, T) { return a + b; },
                 draw);
  expectEqual<T>([](T a, T b, T) { return flushing::difference(a, b); },
                 [](T a, T b, T) { return a - b; }, draw);
}

TYPED_TEST(Flushing, MultipliesAsACpuDoes) {
  using T = TypeParam;
  expectEqual<T>([](T a, T b, T) { return flushing::product(a, b); },
                 [](T a, T b, T) { return a * b; },
                 [](Draw<T> &random) -> Operands<T> {
                   const T a = random.number(-1 - random.below(-Draw<T>::kSmallest - 2));
                   const T b = random.near(random.power(Draw<T>::kSmallest) / a);
                   return {random.signedBy(a), random.signedBy(b), 0};
                 });
}

TYPED_TEST(Flushing, DividesAsACpuDoes) {
  using T = TypeParam;
  expectEqual<T>([](T a, T b, T) { return flushing::quotient(a, b); },
                 [](T a, T b, T) { return a / b; },
                 [](Draw<T> &random) -> Operands<T> {
                   const T b = random.number(1 + random.below(-Draw<T>::kSmallest));
                   const T a = random.near(b * random.power(Draw<T>::kSmallest));
                   return {random.signedBy(a), random.signedBy(b), 0};
                 });
}

/// Products about the smallest number with an addend of 0; that number less a small product; and
/// sums that cancel all but the last bits of a product.
TYPED_TEST(Flushing, MultipliesAndAddsAsACpuDoes) {
  using T = TypeParam;
  constexpr int kSmallest = Draw<T>::kSmallest, kDigits = Draw<T>::kDigits;
  auto draw = [](Draw<T> &random) -> Operands<T> {
    const int choice = random.below(3);
    const int exponent = choice == 0   ? kSmallest
                         : choice == 1 ? kSmallest - kDigits + 3 - random.below(5)
                                       : kSmallest + 3 + random.below(2 * kDigits);
    const int first = exponent / 2 + random.below(kDigits) - kDigits / 2;
    const T a = random.number(first);
    const T b =
        choice == 0 ? random.near(random.power(kSmallest) / a) : random.number(exponent - first);
    const T c = choice == 0   ? T(0)
                : choice == 1 ? random.near(random.power(kSmallest))
                              : random.near(a * b);
    const T signedA = random.signedBy(a), signedB = random.signedBy(b);
    return {signedA, signedB, std::copysign(c, -signedA * signedB)};
  };
  auto fused = [](T a, T b, T c) {
    if constexpr (std::is_same_v<T, float>)
      return __builtin_fmaf(a, b, c);
    else
      return __builtin_fma(a, b, c);
  };
  expectEqual<T>([](T a, T b, T c) { return flushing::multiplyAdd(a, b, c); }, fused, draw);
}

TYPED_TEST(Flushing, TakesRootsAsACpuDoes) {
  using T = TypeParam;
  expectEqual<T>([](T a, T, T) { return flushing::root(a); },
                 [](T a, T, T) { return T(std::sqrt(a)); },
                 [](Draw<T> &random) { return random.anything(); });
}

TEST(FlushingOfNarrowedNumbers, IsThatOfACpu) {
  expectEqual<double>([](double a, double, double) { return flushing::narrowed(a); },
                      [](double a, double, double) { return float(a); },
                      [](Draw<double> &random) -> Operands<double> {
                        const double away = double(random.below(65) - 32) * 0x1p-155;
                        return {random.signedBy(random.near(0x1p-126 + away)), 0, 0};
                      });
}

TEST(Double, ComparesDenormalsAsZero) {
  const Double tiny = {0x1p-1074}, zero = {-0.0};
  EXPECT_TRUE(tiny == zero);
  EXPECT_FALSE(zero < tiny);
  EXPECT_EQ((-tiny).v, -0x1p-1074);
  EXPECT_EQ(abs(-tiny).v, 0x1p-1074);
}

struct Halves {
  Global<double> wide;
  Global<float> narrow;
};

LSTMC_GPU_KERNEL(halve, Halves, a) {
  if (globalThreadIndex() > 0)
    return;
  a.wide.store(0, a.wide.load(0) * 0.5);
  a.narrow.store(0, multiplied(a.narrow.load(0), 0.5f));
}

/// The emulated GPU keeps denormals of f64 where nothing flushes them, so a kernel that does
/// arithmetic on them other than by Double is found; and f32 is flushed.
TEST(EmulatedGpu, KeepsDenormalsOfF64Alone) {
  double wide = 0x1p-1022;
  float narrow = 0x1p-126f;
  const FloatMode flushing; // the caller's
  const Region regions[] = {{&wide, sizeof(wide), true, "wide"},
                            {&narrow, sizeof(narrow), true, "narrow"}};
  const auto fault =
      launchKernel<halve>("halve", Halves{{&wide}, {&narrow}}, {1, kWarp, 0}, regions);
  ASSERT_FALSE(fault) << fault->text();
  EXPECT_EQ(std::bit_cast<uint64_t>(wide), uint64_t(1) << 51);
  EXPECT_EQ(std::bit_cast<uint32_t>(narrow), 0u);
}

} // namespace
} // namespace lstmc::gpu
