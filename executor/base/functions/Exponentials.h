// e^x and what is made of it, in f64. Each result is rounded once, after pairs (Pair.h) with
// relative errors below 2^-57.
#pragma once

#include "executor/base/functions/Pair.h"

namespace lstmc::real {

/// e^x as 2^n (1 + q).
struct Exponential {
  int n;
  Pair q; ///< -0.3 < q < 0.42
};

/// For |x| < 1500: x = n ln 2 + r, |r| <= ln(2)/2, and q = e^r - 1 = r + r^2/2 + r^3 Q(r). Q is a
/// polynomial of degree 10 through the Chebyshev nodes; with it q has an error of 2^-61. ln 2 is a
/// number of 42 bits, whose product with n is exact, and a rest with an error of 2^-98.
LSTMC_PORTABLE Exponential exponentialOf(Pair x) {
  const double kCubic[] = {0x1.5555555555555p-3,  0x1.5555555555556p-5,  0x1.1111111111111p-7,
                           0x1.6c16c16c162d6p-10, 0x1.a01a01a019b2bp-13, 0x1.a01a01a6d7808p-16,
                           0x1.71de3a5904934p-19, 0x1.27e4db67b4303p-22, 0x1.ae64344d7f4e6p-26,
                           0x1.1f72fc730b4ffp-29, 0x1.61b2b016a9a33p-33};
  const double n = nearest(x.high * 0x1.71547652b82fep+0);
  const Pair rest = productOf(n, 0x1.ef35793c76730p-45);
  Pair r = sumOf(multiplyAdd(-n, 0x1.62e42fefa3800p-1, x.high), -rest.high);
  r = orderedSum(r.high, r.low + (x.low - rest.low));
  const Pair half = timesPower(productOf(r.high, r.high), 0.5);
  const double cubic = (half.high + half.high) * r.high * polynomial(r.high, kCubic);
  const Pair q = orderedSum(r.high, half.high);
  const double slope = 1 + (r.high + half.high);
  return {int(n), orderedSum(q.high, q.low + (half.low + multiplyAdd(r.low, slope, cubic)))};
}
LSTMC_PORTABLE Exponential exponentialOf(double x) { return exponentialOf(Pair{x, 0}); }

/// 2^n (1 + q).
LSTMC_PORTABLE double valueOf(Exponential e, int n) {
  return scaled(rounded(orderedSum(1, e.q.high) + Pair{e.q.low, 0}), n);
}
LSTMC_PORTABLE double valueOf(Exponential e) { return valueOf(e, e.n); }
/// For |n| < 900.
LSTMC_PORTABLE Pair pairOf(Exponential e) { return timesPower(1 + e.q, powerOf2(e.n)); }

/// e^x - 1, 0 <= x < 600.
LSTMC_PORTABLE Pair exponentialLess1(double x) {
  const Exponential e = exponentialOf(x);
  return e.n == 0 ? e.q : timesPower(e.q, powerOf2(e.n)) + sumOf(powerOf2(e.n), -1);
}

LSTMC_PORTABLE double exponential(double x) {
  if (!(magnitude(x) < 1000))
    return isNan(x) ? x : x > 0 ? kInfinity : 0;
  return valueOf(exponentialOf(x));
}

/// e^x - 1.
LSTMC_PORTABLE double expm1(double x) {
  if (magnitude(x) < 0x1p-54 || isNan(x))
    return x;
  if (x > 500)
    return exponential(x);
  if (x < -50)
    return -1;
  const Exponential e = exponentialOf(x);
  return rounded(e.n == 0 ? e.q : timesPower(e.q, powerOf2(e.n)) + sumOf(powerOf2(e.n), -1));
}

/// 1 / (1 + e^-x).
LSTMC_PORTABLE double sigmoid(double x) {
  if (isNan(x))
    return x;
  if (x < -60) // 1 + e^x is 1
    return exponential(x);
  if (x > 60)
    return 1;
  const Pair small = pairOf(exponentialOf(-magnitude(x)));
  return rounded((x < 0 ? small : Pair{1, 0}) / (1 + small));
}

/// (e^2x - 1) / (e^2x + 1).
LSTMC_PORTABLE double hyperbolicTangent(double x) {
  const double size = magnitude(x);
  if (size < 0x1p-28 || isNan(x))
    return x;
  if (size > 20)
    return withSign(1, x);
  const Pair less1 = exponentialLess1(size + size);
  return withSign(rounded(less1 / (less1 + 2.0)), x);
}

/// (e^x - e^-x) / 2; with u = e^x - 1 it is (u + u / (1 + u)) / 2.
LSTMC_PORTABLE double hyperbolicSine(double x) {
  const double size = magnitude(x);
  if (size < 0x1p-28 || isNan(x))
    return x;
  if (size > 800)
    return withSign(kInfinity, x);
  if (size > 40) {
    const Exponential e = exponentialOf(size);
    return withSign(valueOf(e, e.n - 1), x);
  }
  const Pair less1 = exponentialLess1(size);
  return withSign(0.5 * rounded(less1 + less1 / (less1 + 1.0)), x);
}

/// (e^x + e^-x) / 2.
LSTMC_PORTABLE double hyperbolicCosine(double x) {
  const double size = magnitude(x);
  if (isNan(x))
    return x;
  if (size > 800)
    return kInfinity;
  const Exponential e = exponentialOf(size);
  if (size > 40)
    return valueOf(e, e.n - 1);
  const Pair power = pairOf(e);
  return 0.5 * rounded(power + 1.0 / power);
}

} // namespace lstmc::real
