// Python's arithmetic on plain 64-bit integers and doubles.
#pragma once

#include <cstdint>

namespace lstmc::lnet {

/// base ** exponent; false on overflow.
bool integerPower(int64_t base, int64_t exponent, int64_t &result);
/// a / b, rounded once; b is not 0.
double trueQuotient(int64_t a, int64_t b);
/// a // b and a % b; b is not 0.
double floorQuotient(double a, double b);
double floorModulo(double a, double b);
/// -1, 0 or 1 for a < b, a == b, a > b; exact, a is not rounded to a double.
int compareExactly(int64_t a, double b);

} // namespace lstmc::lnet
