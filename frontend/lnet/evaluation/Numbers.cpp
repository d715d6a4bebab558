#include "frontend/lnet/evaluation/Numbers.h"

#include <cmath>

namespace lstmc::lnet {

bool integerPower(int64_t base, int64_t exponent, int64_t &result) {
  result = 1;
  while (exponent > 0) {
    if ((exponent & 1) && __builtin_mul_overflow(result, base, &result))
      return false;
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base))
      return false;
  }
  return true;
}

double trueQuotient(int64_t a, int64_t b) {
  constexpr int64_t kExact = int64_t(1) << 53;
  if (a >= -kExact && a <= kExact && b >= -kExact && b <= kExact)
    return double(a) / double(b);
  // At least 63 bits of the quotient, the last of them set if more follow: converting rounds once.
  __uint128_t dividend = a < 0 ? 0 - uint64_t(a) : uint64_t(a);
  uint64_t divisor = b < 0 ? 0 - uint64_t(b) : uint64_t(b);
  if (dividend == 0)
    return 0;
  int shift = __builtin_clzll(uint64_t(dividend)) + 63;
  dividend <<= shift;
  __uint128_t quotient = dividend / divisor;
  bool sticky = dividend % divisor != 0;
  int dropped = 0;
  while (quotient >> 64) {
    sticky |= bool(quotient & 1);
    quotient >>= 1;
    ++dropped;
  }
  double result = std::ldexp(double(uint64_t(quotient) | uint64_t(sticky)), dropped - shift);
  return (a < 0) != (b < 0) ? -result : result;
}

double floorModulo(double a, double b) {
  double rest = std::fmod(a, b);
  if (rest == 0)
    return std::copysign(0.0, b);
  return (b < 0) != (rest < 0) ? rest + b : rest;
}

double floorQuotient(double a, double b) {
  double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && (b < 0) != (rest < 0))
    quotient -= 1;
  if (quotient == 0)
    return std::copysign(0.0, a / b);
  double whole = std::floor(quotient);
  return quotient - whole > 0.5 ? whole + 1 : whole;
}

int compareExactly(int64_t a, double b) {
  if (b >= 0x1p63)
    return -1;
  if (b < -0x1p63)
    return 1;
  double whole = std::floor(b);
  int64_t integer = int64_t(whole);
  if (a != integer)
    return a < integer ? -1 : 1;
  return b > whole ? -1 : 0;
}

} // namespace lstmc::lnet
