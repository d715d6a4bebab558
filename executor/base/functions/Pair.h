// Arithmetic of pairs of f64, for functions that are rounded only once at their end.
//
// A Pair is the unrounded sum of its parts, |low| at most half an ULP of high. Sums and products of
// two f64 are exact pairs; the other operations have a relative error below 2^-100, unless the sum
// of two pairs cancels.
//
// Source: T. J. Dekker, "A floating-point technique for extending the available precision" (1971);
// D. E. Knuth, "The Art of Computer Programming", volume 2, section 4.2.2.
#pragma once

#include <bit>
#include <cstdint>

/// Marks functions that nvcc compiles for GPUs too. They use +, -, *, /, fma, square roots and
/// bits.
#ifdef __CUDACC__
#define LSTMC_PORTABLE __host__ __device__ inline
#else
#define LSTMC_PORTABLE [[gnu::always_inline]] inline
#endif

namespace lstmc::real {

LSTMC_PORTABLE double multiplyAdd(double a, double b, double c) {
#ifdef __CUDA_ARCH__
  return __fma_rn(a, b, c);
#else
  return __builtin_fma(a, b, c);
#endif
}
LSTMC_PORTABLE double root(double a) {
#ifdef __CUDA_ARCH__
  return __dsqrt_rn(a);
#else
  return __builtin_sqrt(a);
#endif
}

LSTMC_PORTABLE uint64_t bitsOf(double x) { return std::bit_cast<uint64_t>(x); }
LSTMC_PORTABLE double fromBits(uint64_t bits) { return std::bit_cast<double>(bits); }

inline constexpr uint64_t kSignBit = uint64_t(1) << 63;
inline constexpr double kInfinity = __builtin_inf();
inline constexpr double kNaN = __builtin_nan("");

LSTMC_PORTABLE bool isNan(double x) { return x != x; }
LSTMC_PORTABLE bool isNegative(double x) { return bitsOf(x) >> 63; } ///< of zeros too
LSTMC_PORTABLE double magnitude(double x) { return fromBits(bitsOf(x) & ~kSignBit); }
LSTMC_PORTABLE double withSign(double x, double sign) {
  return fromBits((bitsOf(x) & ~kSignBit) | (bitsOf(sign) & kSignBit));
}
/// A denormal becomes a zero of its sign.
LSTMC_PORTABLE double flushed(double x) {
  return bitsOf(x) << 1 < uint64_t(1) << 53 ? fromBits(bitsOf(x) & kSignBit) : x;
}
/// The nearest whole number, halves to even; |x| < 2^51.
LSTMC_PORTABLE double nearest(double x) { return (x + 0x1.8p52) - 0x1.8p52; }
/// n with 2^n <= |x| < 2^(n + 1), of a normal number.
LSTMC_PORTABLE int exponentOf(double x) { return int(bitsOf(x) >> 52 & 0x7ff) - 1023; }
/// 2^n, -1022 <= n <= 1023.
LSTMC_PORTABLE double powerOf2(int n) { return fromBits(uint64_t(n + 1023) << 52); }

/// x * 2^n of a normal x: a zero where the product is denormal, infinite where it is too large.
LSTMC_PORTABLE double scaled(double x, int n) {
  const int exponent = exponentOf(x) + n;
  if (exponent > 1023)
    return withSign(kInfinity, x);
  if (exponent < -1022)
    return withSign(0, x);
  return fromBits(bitsOf(x) + (uint64_t(int64_t(n)) << 52));
}

struct Pair {
  double high, low;
};

/// a + b, |a| >= |b| or a = 0.
LSTMC_PORTABLE Pair orderedSum(double a, double b) {
  const double high = a + b;
  return {high, b - (high - a)};
}
/// a + b.
LSTMC_PORTABLE Pair sumOf(double a, double b) {
  const double high = a + b, part = high - a;
  return {high, (a - (high - part)) + (b - part)};
}
/// a * b.
LSTMC_PORTABLE Pair productOf(double a, double b) {
  const double high = a * b;
  return {high, multiplyAdd(a, b, -high)};
}
/// a / b.
LSTMC_PORTABLE Pair quotientOf(double a, double b) {
  const double high = a / b;
  return {high, multiplyAdd(-high, b, a) / b};
}

LSTMC_PORTABLE Pair operator-(Pair a) { return {-a.high, -a.low}; }
LSTMC_PORTABLE Pair operator+(Pair a, Pair b) {
  const Pair high = sumOf(a.high, b.high), low = sumOf(a.low, b.low);
  const Pair sum = orderedSum(high.high, high.low + low.high);
  return orderedSum(sum.high, sum.low + low.low);
}
LSTMC_PORTABLE Pair operator+(Pair a, double b) {
  const Pair sum = sumOf(a.high, b);
  return orderedSum(sum.high, sum.low + a.low);
}
LSTMC_PORTABLE Pair operator+(double a, Pair b) { return b + a; }
LSTMC_PORTABLE Pair operator-(Pair a, Pair b) { return a + -b; }
LSTMC_PORTABLE Pair operator-(Pair a, double b) { return a + -b; }
LSTMC_PORTABLE Pair operator-(double a, Pair b) { return -b + a; }
LSTMC_PORTABLE Pair operator*(Pair a, Pair b) {
  const Pair product = productOf(a.high, b.high);
  return orderedSum(product.high, product.low + multiplyAdd(a.high, b.low, a.low * b.high));
}
LSTMC_PORTABLE Pair operator*(Pair a, double b) {
  const Pair product = productOf(a.high, b);
  return orderedSum(product.high, multiplyAdd(a.low, b, product.low));
}
LSTMC_PORTABLE Pair operator*(double a, Pair b) { return b * a; }
LSTMC_PORTABLE Pair operator/(Pair a, Pair b) {
  const double quotient = a.high / b.high;
  const double rest = multiplyAdd(-quotient, b.high, a.high) + (a.low - quotient * b.low);
  return orderedSum(quotient, rest / b.high);
}
LSTMC_PORTABLE Pair operator/(double a, Pair b) { return Pair{a, 0} / b; }
/// Exact for powers of 2.
LSTMC_PORTABLE Pair timesPower(Pair a, double power) { return {a.high * power, a.low * power}; }
/// The square root of a > 0.
LSTMC_PORTABLE Pair root(Pair a) {
  const double high = root(a.high);
  return orderedSum(high, (multiplyAdd(-high, high, a.high) + a.low) / (high + high));
}

LSTMC_PORTABLE double rounded(Pair a) { return a.high + a.low; }

/// c[0] + c[1] x + c[2] x^2 + ..., by Horner's rule.
template <int kCount> LSTMC_PORTABLE double polynomial(double x, const double (&c)[kCount]) {
  double sum = c[kCount - 1];
  for (int i = kCount - 2; i >= 0; --i)
    sum = multiplyAdd(sum, x, c[i]);
  return sum;
}

} // namespace lstmc::real
