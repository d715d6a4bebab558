// The error function and its inverse, in f64.
#pragma once

#include "executor/base/functions/Logarithms.h"

namespace lstmc::real {

/// erf x = x (2/sqrt(pi) + z (-2/(3 sqrt(pi)) + z P(z))), z = x^2, 2^-60 <= x < 1. P is a
/// polynomial of degree 13 through the Chebyshev nodes, error of erf 2^-57.
LSTMC_PORTABLE Pair errorNear0(double x) {
  const double kFifth[] = {0x1.ce2f21a042be2p-4,   -0x1.b82ce31288b51p-6,  0x1.565bcd0e6a53fp-8,
                           -0x1.c02db40040b54p-11, 0x1.f9a326f9b74d0p-14,  -0x1.f4d25c3db853fp-17,
                           0x1.b9e6c9cec3826p-20,  -0x1.5f742d42c655cp-23, 0x1.fcc53694cc3f2p-27,
                           -0x1.51d3db7e5157cp-30, 0x1.9e2b408612306p-34,  -0x1.d4e523d6b9eadp-38,
                           0x1.d811a94496440p-42,  -0x1.4dbbde32fdf2ap-46};
  const Pair square = productOf(x, x), first = {0x1.20dd750429b6dp+0, 0x1.1ae3a914fed80p-56},
             third = {-0x1.812746b0379e7p-2, 0x1.ee12e49cab700p-57};
  return x * (first + square * (third + square.high * polynomial(square.high, kFifth)));
}

/// 1 - erf x = e^(-x^2) G(t) / (1 + x), t = (x - 3) / (x + 3), 1 <= x < 6.5. G is a polynomial of
/// degree 18 through the Chebyshev nodes, relative error 2^-54.
LSTMC_PORTABLE double errorComplement(double x) {
  const double kG[] = {
      0x1.6e9827d229d2dp-1,   -0x1.d8f06dfac798dp-3,  0x1.9596c92adafefp-4,   -0x1.4f64aa4aa2453p-7,
      -0x1.8600d91461b90p-6,  0x1.67c18994f4f72p-6,   -0x1.3f82b5d0814bdp-7,  0x1.a84c55e41fd5fp-10,
      0x1.5297b776b9190p-11,  -0x1.81214193d1af7p-12, -0x1.58cd06149342cp-16, 0x1.d6c3d7f49e1fbp-15,
      -0x1.963d0092603e7p-20, -0x1.2daf1a7e7e66bp-17, 0x1.114a4b241f89ap-22,  0x1.aa5f619662e91p-20,
      0x1.62ff498921636p-24,  -0x1.27a3e565cf329p-22, -0x1.4c9113cdb1651p-24};
  const Pair scale = pairOf(exponentialOf(-productOf(x, x)));
  return scale.high * (polynomial((x - 3) / (x + 3), kG) / (1 + x));
}

LSTMC_PORTABLE double errorFunction(double x) {
  const double size = magnitude(x);
  if (isNan(x))
    return x;
  if (size < 0x1p-30)
    return x * 0x1.20dd750429b6dp+0;
  if (size >= 6)
    return withSign(1, x);
  return withSign(size < 1 ? rounded(errorNear0(size)) : 1 - errorComplement(size), x);
}

/// Infinite at 1 and -1, NaN beyond. The start has a relative error of 2e-3. Each step of Newton's
/// method, with Halley's correction, cubes it; the steps take the error of erf, or of 1 - erf where
/// erf has lost the digits.
///
/// Source of the start: S. Winitzki, "A handy approximation for the error function and its
/// inverse".
LSTMC_PORTABLE double inverseErrorFunction(double y) {
  constexpr double kShape = 0.147, kTwoOverPi = 0.636619772367581343,
                   kHalfRootPi = 0x1.c5bf891b4ef6bp-1;
  const double a = magnitude(y);
  if (!(a < 1))
    return a == 1 ? withSign(kInfinity, y) : kNaN;
  if (a < 0x1p-30)
    return y * kHalfRootPi;
  const double l = log1p(-a * a), b = kTwoOverPi / kShape + 0.5 * l;
  double x = a < 1e-4 ? a * kHalfRootPi : root(root(b * b - l / kShape) - b);
  for (int step = 0; step < 3; ++step) {
    const double error = x < 1 ? rounded(errorNear0(x) - a) : (1 - a) - errorComplement(x);
    const double newton = error * kHalfRootPi * exponential(x * x);
    x -= newton / (1 + x * newton);
  }
  return withSign(x, y);
}

} // namespace lstmc::real
