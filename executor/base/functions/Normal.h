// Normal numbers from uniform ones.
#pragma once

#include "executor/base/functions/Logarithms.h"
#include "executor/base/functions/Trigonometry.h"

namespace lstmc::real {

/// Two normal numbers, mean 0, deviation 1, from two uniform ones in [0, 1) that are multiples of
/// 2^-24: the first gives the radius, the second the angle (Box and Muller, 1958).
LSTMC_PORTABLE void normalPair(double first, double second, double &even, double &odd) {
  const double radius = root(-2 * logarithm(first + 0x1p-24)); // log of a number in (0, 1]
  const Angle angle = angleOf(4 * kHalfPi * second);
  even = radius * rounded(sineOf({(angle.quadrant + 1) & 3, angle.r}));
  odd = radius * rounded(sineOf(angle));
}

} // namespace lstmc::real
