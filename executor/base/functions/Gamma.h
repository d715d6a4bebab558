// The gamma function, its logarithm and the derivative of that, in f64.
//
// Source of the series and recurrences: Abramowitz and Stegun, "Handbook of Mathematical
// Functions", chapter 6.
#pragma once

#include "executor/base/functions/Powers.h"
#include "executor/base/functions/Trigonometry.h"

namespace lstmc::real {

/// log Gamma(x) for x >= 15 by Stirling's series, whose first omitted term is below 7e-20.
LSTMC_PORTABLE Pair stirling(Pair x) {
  const double kSeries[] = {1.0 / 12,   -1.0 / 360,        1.0 / 1260, -1.0 / 1680,
                            1.0 / 1188, -691.0 / 360360.0, 1.0 / 156};
  const double reciprocal = 1 / x.high;
  const double series = reciprocal * polynomial(reciprocal * reciprocal, kSeries);
  const Pair halfLogOf2Pi = {0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55};
  return (x - 0.5) * preciseLogarithm(x) - x + (halfLogOf2Pi + series);
}

/// Gamma(x) = e^logarithm / divisor.
struct GammaParts {
  Pair logarithm, divisor;
};
/// Of x > 0, by Gamma(x) = Gamma(x + n) / (x (x + 1) ... (x + n - 1)), x + n >= 15.
LSTMC_PORTABLE GammaParts gammaParts(double x) {
  Pair divisor = {1, 0}, above = {x, 0};
  for (int n = 1; above.high < 15; ++n) {
    divisor = divisor * above;
    above = sumOf(n, x);
  }
  return {stirling(above), divisor};
}

/// Whether x < 0 is whole: a pole.
LSTMC_PORTABLE bool isWhole(double x) { return magnitude(x) >= 0x1p52 || double(int64_t(x)) == x; }
/// |x| minus the nearest whole number, |x| < 2^52; `odd` says whether that is odd.
LSTMC_PORTABLE double fractionOf(double x, bool &odd) {
  // NOLINTNEXTLINE(bugprone-incorrect-roundings): beside a half either neighbour will do
  const int64_t whole = int64_t(magnitude(x) + 0.5);
  odd = whole & 1;
  return magnitude(x) - double(whole);
}

/// Infinite at 0, NaN at the other poles. Below 0, Gamma(x) = -pi / (|x| sin(pi |x|) Gamma(|x|)).
LSTMC_PORTABLE double gammaFunction(double x) {
  const double size = magnitude(x);
  if (isNan(x) || x == kInfinity)
    return x;
  if (size < 0x1p-60)
    return x == 0 ? withSign(kInfinity, x) : 1 / x;
  if (x < 0 && isWhole(x))
    return kNaN;
  if (size > 190)
    return x > 0 ? kInfinity : 0;
  const GammaParts parts = gammaParts(size);
  Exponential e = exponentialOf(parts.logarithm);
  const Pair mantissa = (1 + e.q) / parts.divisor;
  if (x > 0)
    return scaled(rounded(mantissa), e.n);
  bool odd;
  const Pair sine = sineOfPi(fractionOf(x, odd));
  const Pair result = Pair{2 * kHalfPi, 2 * kHalfPiLow} / (size * sine * mantissa);
  return scaled(rounded(odd ? result : -result), -e.n);
}

/// log Gamma(2 + z) = z (1 - gamma + z M(z)), |z| <= 1/8. M is a polynomial of degree 10 through
/// the Chebyshev nodes, error 2^-61.
LSTMC_PORTABLE Pair logGammaNear2(double z) {
  const double kSquare[] = {0x1.4a34cc4a60fa6p-2,   -0x1.13e001a55760dp-4,  0x1.51322ac7d84a9p-6,
                            -0x1.e404fc216d090p-8,  0x1.7add6ead85898p-9,   -0x1.38ac5cec2c2b0p-10,
                            0x1.0b36b0602794fp-11,  -0x1.d3f9de9a0ea1dp-13, 0x1.a12433a4ee5c9p-14,
                            -0x1.7c4a8e239166ep-15, 0x1.5b56f21f1e068p-16};
  const Pair line = productOf(z, 0x1.b0ee6072093cep-2);
  return line + multiplyAdd(z, 0x1.6cb90701fbfabp-58, z * z * polynomial(z, kSquare));
}

/// log Gamma(x), 2^-60 <= x < 2^60. Near 1 and 2, where it is 0, by the series above.
LSTMC_PORTABLE Pair logGammaPair(double x) {
  const double from1 = x - 1, from2 = x - 2;
  if (magnitude(from1) <= 0.125)
    return from1 == 0 ? Pair{0, 0} : logGammaNear2(from1) - logarithmOf1Plus(Pair{from1, 0});
  if (magnitude(from2) <= 0.125)
    return logGammaNear2(from2);
  const GammaParts parts = gammaParts(x);
  return parts.logarithm - preciseLogarithm(parts.divisor);
}

/// Of |Gamma(x)|; infinite at the poles.
LSTMC_PORTABLE double logGamma(double x) {
  const double size = magnitude(x);
  if (!(size < kInfinity))
    return isNan(x) ? x : kInfinity;
  if (size < 0x1p-60)
    return x == 0 ? kInfinity : -rounded(logarithmPair(size));
  if (x < 0 && isWhole(x))
    return kInfinity;
  if (size >= 0x1p60) {
    const Pair less1 = logarithmPair(size) - 1.0;
    return size * less1.high < kInfinity ? rounded(size * less1) : kInfinity;
  }
  const Pair positive = logGammaPair(size);
  if (x > 0)
    return rounded(positive);
  bool odd;
  const Pair sine = sineOfPi(magnitude(fractionOf(x, odd)));
  const Pair ratio = Pair{2 * kHalfPi, 2 * kHalfPiLow} / (size * sine);
  return rounded(logarithmPair(ratio) - positive);
}

/// Derivative of log |Gamma|; NaN at the poles. The recurrence psi(x) = psi(x + 1) - 1/x up to 8,
/// then the asymptotic series; below 0 psi(x) = psi(1 - x) - pi cot(pi x), with
/// psi(1 - x) = psi(-x) - 1/x.
LSTMC_PORTABLE double digamma(double x) {
  // B_2n / (2n), n = 1 to 10: at x = 8 the first omitted term is 2e-17.
  const double kSeries[] = {1.0 / 12,        -1.0 / 120,      1.0 / 252, -1.0 / 240,
                            1.0 / 132,       -691.0 / 32760,  1.0 / 12,  -3617.0 / 8160,
                            43867.0 / 14364, -174611.0 / 6600};
  const double size = magnitude(x);
  if (isNan(x) || x == 0 || (x < 0 && isWhole(x)))
    return kNaN;
  if (x == kInfinity)
    return x;
  if (size < 0x1p-60)
    return -1 / x;
  Pair below = {0, 0}, above = {size, 0};
  for (int n = 1; above.high < 8; ++n) {
    below = below + 1.0 / above;
    above = sumOf(n, size);
  }
  const double reciprocal = 1 / above.high, square = reciprocal * reciprocal;
  const double series = square * polynomial(square, kSeries);
  Pair psi = logarithmPair(above) - (0.5 / above + below) - series;
  if (x < 0) {
    bool odd;
    const double f = fractionOf(x, odd);
    const Pair pi = {2 * kHalfPi, 2 * kHalfPiLow};
    const Pair cosine = sineOfPi(0.5 - magnitude(f)), sine = sineOfPi(f);
    psi = psi + 1.0 / Pair{size, 0} + pi * cosine / sine;
  }
  return rounded(psi);
}

} // namespace lstmc::real
