// Powers, roots and the remainder, in f64.
#pragma once

#include "executor/base/functions/Logarithms.h"

namespace lstmc::real {

/// a^b = e^(b log |a|) with the cases of C's pow: 1 if b is 0 or a is 1; NaN for a < 0 unless b is
/// whole.
LSTMC_PORTABLE double power(double a, double b) {
  if (b == 0 || a == 1)
    return 1;
  if (isNan(a) || isNan(b))
    return kNaN;
  const double size = magnitude(a), exponent = magnitude(b);
  const bool whole = exponent >= 0x1p53 || double(int64_t(exponent)) == exponent;
  const bool odd = exponent < 0x1p53 && whole && (int64_t(exponent) & 1);
  const double sign = odd ? withSign(1, a) : 1;
  if (exponent == kInfinity && size == 1)
    return 1;
  if (size == 0 || size == kInfinity || exponent == kInfinity)
    return withSign((size < 1) == (b < 0) ? kInfinity : 0, sign);
  if (a < 0 && !whole)
    return kNaN;
  const Pair logarithm = preciseLogarithm(size);
  const double estimate = b * logarithm.high;
  if (!(magnitude(estimate) < 1000))
    return withSign(estimate > 0 ? kInfinity : 0, sign);
  return withSign(valueOf(exponentialOf(logarithm * b)), sign);
}

/// e^(log(x) / 3).
LSTMC_PORTABLE double cubeRoot(double x) {
  const double size = magnitude(x);
  if (!(size > 0 && size < kInfinity))
    return x;
  return withSign(valueOf(exponentialOf(preciseLogarithm(size) / Pair{3, 0})), x);
}

/// sqrt(a^2 + b^2), infinite if one is.
LSTMC_PORTABLE double hypotenuse(double a, double b) {
  a = magnitude(a);
  b = magnitude(b);
  if (a == kInfinity || b == kInfinity)
    return kInfinity;
  if (isNan(a) || isNan(b))
    return kNaN;
  const double large = a > b ? a : b, small = a > b ? b : a;
  if (small == 0 || exponentOf(large) - exponentOf(small) > 60)
    return large;
  const int n = exponentOf(large);
  const double x = scaled(large, -n), y = fromBits(bitsOf(small) - (uint64_t(int64_t(n)) << 52));
  return scaled(rounded(root(productOf(x, x) + productOf(y, y))), n);
}

/// The remainder of a / b with the sign of b, as Python's; 0 if b is 0. The remainder of the
/// magnitudes is exact: a long division of their bits, 11 at a time.
LSTMC_PORTABLE double modulo(double a, double b) {
  if (b == 0)
    return 0;
  if (isNan(a) || isNan(b) || magnitude(a) == kInfinity)
    return kNaN;
  double rest = magnitude(a);
  if (magnitude(b) <= rest) {
    constexpr uint64_t kOne = uint64_t(1) << 52;
    const uint64_t divisor = (bitsOf(b) & (kOne - 1)) | kOne;
    const int last = exponentOf(b);
    uint64_t bits = ((bitsOf(a) & (kOne - 1)) | kOne) % divisor;
    for (int left = exponentOf(a) - last; left > 0 && bits != 0;) {
      const int step = left < 11 ? left : 11;
      bits = (bits << step) % divisor;
      left -= step;
    }
    rest = bits == 0 ? 0 : scaled(double(bits), last - 52);
  }
  if (rest == 0)
    return withSign(0, b);
  return isNegative(a) == isNegative(b) ? withSign(rest, a) : withSign(rest, a) + b;
}

} // namespace lstmc::real
