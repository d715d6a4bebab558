// Logarithms and what is made of them, in f64. Each result is rounded once, after pairs (Pair.h).
#pragma once

#include "executor/base/functions/Exponentials.h"

namespace lstmc::real {

/// x = 2^n m, sqrt(1/2) <= m < sqrt(2), and the logarithm of m.
struct Logarithm {
  double n;
  Pair ofM;
};

/// 2^n and m, less 1, of normal x > 0.
struct Reduced {
  double n, f;
};
LSTMC_PORTABLE Reduced reduced(double x) {
  constexpr uint64_t kRootHalf = 0x3fe6a09e667f3bcd;
  const uint64_t from = bitsOf(x) - kRootHalf;
  return {double(int64_t(from) >> 52), fromBits((from & 0x000fffffffffffff) + kRootHalf) - 1};
}

/// With f = m - 1 and s = f / (2 + f), log m = 2 artanh s = 2 s + s z (2/3 + z (2/5 + z R(z))),
/// z = s^2 < 0.0295. R is a polynomial of degree 7 through the Chebyshev nodes.
LSTMC_PORTABLE double seventhAndOn(double z) {
  const double kSeventh[] = {0x1.2492492492492p-2, 0x1.c71c71c71c824p-3, 0x1.745d1745a3aecp-3,
                             0x1.3b13b16b845a0p-3, 0x1.1110f7ed90f7bp-3, 0x1.e1f004ce6b5cap-4,
                             0x1.acf7370081675p-4, 0x1.b2ebd5566f660p-4};
  return polynomial(z, kSeventh);
}
/// Of normal x > 0, with a relative error below 2^-57.
LSTMC_PORTABLE Logarithm logarithmOf(double x) {
  const Reduced r = reduced(x);
  const Pair s = Pair{r.f, 0} / orderedSum(2, r.f);
  const double z = s.high * s.high;
  const double fifth = multiplyAdd(z, seventhAndOn(z), 0x1.999999999999ap-2);
  const double cubic = s.high * z * multiplyAdd(z, fifth, 0x1.5555555555555p-1);
  return {r.n, orderedSum(s.high + s.high, s.low + s.low + cubic)};
}
/// Of normal x > 0, with a relative error below 2^-67.
LSTMC_PORTABLE Logarithm preciseLogarithmOf(double x) {
  const Reduced r = reduced(x);
  const Pair s = Pair{r.f, 0} / orderedSum(2, r.f), z = s * s;
  const Pair fifth =
      orderedSum(0x1.999999999999ap-2, z.high * seventhAndOn(z.high)) + -0x1.999999999999ap-56;
  const Pair third = Pair{0x1.5555555555555p-1, 0x1.5555555555555p-55} + z * fifth;
  return {r.n, timesPower(s, 2) + s * z * third};
}

/// n ln 2 + log m. ln 2 is a number of 42 bits, whose product with n is exact, and a rest.
LSTMC_PORTABLE Pair pairOf(Logarithm l) {
  const Pair sum = orderedSum(l.n * 0x1.62e42fefa3800p-1, l.ofM.high);
  return orderedSum(sum.high, sum.low + multiplyAdd(l.n, 0x1.ef35793c76730p-45, l.ofM.low));
}
/// log x of normal x > 0.
LSTMC_PORTABLE Pair logarithmPair(double x) { return pairOf(logarithmOf(x)); }
LSTMC_PORTABLE Pair preciseLogarithm(double x) { return pairOf(preciseLogarithmOf(x)); }
LSTMC_PORTABLE Pair preciseLogarithm(Pair x) { return preciseLogarithm(x.high) + x.low / x.high; }
/// log x of x > 0.
LSTMC_PORTABLE Pair logarithmPair(Pair x) {
  const double rest = x.low / x.high;
  return logarithmPair(x.high) + multiplyAdd(-0.5 * rest, rest, rest);
}
/// log(1 + x), x > -1.
LSTMC_PORTABLE Pair logarithmOf1Plus(Pair x) { return logarithmPair(1 + x); }

/// Whether a logarithm of x needs no series; then `result` has it.
LSTMC_PORTABLE bool isSpecialLogarithm(double x, double &result) {
  result = isNan(x) ? x : x == 0 ? -kInfinity : x < 0 ? kNaN : x;
  return !(x > 0 && x < kInfinity);
}

/// -infinity at 0, NaN below; the other logarithms likewise.
LSTMC_PORTABLE double logarithm(double x) {
  double result;
  return isSpecialLogarithm(x, result) ? result : rounded(logarithmPair(x));
}
LSTMC_PORTABLE double logarithmBase2(double x) {
  double result;
  if (isSpecialLogarithm(x, result))
    return result;
  const Logarithm l = logarithmOf(x);
  return rounded(l.ofM * Pair{0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56} + l.n);
}
LSTMC_PORTABLE double logarithmBase10(double x) {
  double result;
  if (isSpecialLogarithm(x, result))
    return result;
  return rounded(logarithmPair(x) * Pair{0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57});
}

/// log(1 + x).
LSTMC_PORTABLE double log1p(double x) {
  if (magnitude(x) < 0x1p-54)
    return x;
  double result;
  if (isSpecialLogarithm(x + 1, result))
    return result;
  return rounded(logarithmOf1Plus(Pair{x, 0}));
}

/// log(1 + e^x).
LSTMC_PORTABLE double softRelu(double x) {
  if (x > 60 || isNan(x))
    return x;
  if (x < -60)
    return exponential(x);
  const Pair small = logarithmOf1Plus(pairOf(exponentialOf(-magnitude(x))));
  return rounded(x > 0 ? small + x : small);
}

inline constexpr double kLargeArea = 0x1p28; // beyond, the square root of x^2 + 1 is x
LSTMC_PORTABLE double logarithmOfTwice(double x) {
  return rounded(logarithmPair(x) + Pair{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56});
}

/// log(x + sqrt(x^2 + 1)) = log(1 + x + x^2 / (1 + sqrt(x^2 + 1))).
LSTMC_PORTABLE double inverseHyperbolicSine(double x) {
  const double size = magnitude(x);
  if (!(size >= 0x1p-28 && size < kInfinity))
    return x;
  if (size > kLargeArea)
    return withSign(logarithmOfTwice(size), x);
  const Pair square = productOf(size, size);
  return withSign(rounded(logarithmOf1Plus(square / (1 + root(1 + square)) + size)), x);
}

/// log(x + sqrt(x^2 - 1)); NaN below 1.
LSTMC_PORTABLE double inverseHyperbolicCosine(double x) {
  if (!(x > 1 && x < kInfinity))
    return x == 1 ? 0 : x > 1 ? x : kNaN;
  if (x > kLargeArea)
    return logarithmOfTwice(x);
  const Pair less1 = sumOf(x, -1);
  return rounded(logarithmOf1Plus(less1 + root(less1 * sumOf(x, 1))));
}

/// log((1 + x) / (1 - x)) / 2; infinite at 1 and -1, NaN beyond.
LSTMC_PORTABLE double inverseHyperbolicTangent(double x) {
  const double size = magnitude(x);
  if (!(size < 1))
    return size == 1 ? withSign(kInfinity, x) : kNaN;
  if (size < 0x1p-28)
    return x;
  const Pair ratio = Pair{size + size, 0} / sumOf(1, -size);
  return withSign(0.5 * rounded(logarithmOf1Plus(ratio)), x);
}

} // namespace lstmc::real
