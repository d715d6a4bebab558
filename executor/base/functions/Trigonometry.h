// Trigonometric functions and their inverses, in f64. Each result is rounded once, after pairs
// (Pair.h).
#pragma once

#include "executor/base/functions/Pair.h"

namespace lstmc::real {

inline constexpr double kHalfPi = 0x1.921fb54442d18p+0, kHalfPiLow = 0x1.1a62633145c07p-54;

/// x = quadrant * pi/2 + r, |r| <= pi/4 and a little.
struct Angle {
  int quadrant; ///< modulo 4
  Pair r;
};

/// Of |x| >= 2^20. x is a whole number m of 53 bits times 2^e. Bits of 2/pi that give m multiples
/// of 2^(2 - e) turn the angle by full circles; the 192 bits after them, times m and modulo 2^192,
/// are two bits of the quadrant and the fraction of a quadrant, with an error of 2^-137. No f64 is
/// nearer than 2^-62 to a multiple of pi/2.
///
/// Source: M. H. Payne, R. N. Hanek, "Radian reduction for trigonometric functions" (1983).
LSTMC_PORTABLE Angle largeAngle(double x) {
  const uint64_t kBits[] = {0, // of the whole part
                            0xa2f9836e4e441529,
                            0xfc2757d1f534ddc0,
                            0xdb6295993c439041,
                            0xfe5163abdebbc561,
                            0xb7246e3a424dd2e0,
                            0x06492eea09d1921c,
                            0xfe1deb1cb129a73e,
                            0xe88235f52ebb4484,
                            0xe99c7026b45f7e41,
                            0x3991d639835339f4,
                            0x9c845f8bbdf9283b,
                            0x1ff897ffde05980f,
                            0xef2f118b5a0a6d1f,
                            0x6d367ecf27cb09b7,
                            0x4f463f669e5fea2d,
                            0x7527bac7ebe5f17b,
                            0x3d0739f78a5292ea,
                            0x6bfb5fb11f8d5d08,
                            0x56033046fc7b6bab};
  const uint64_t m = (bitsOf(x) & 0x000fffffffffffff) | uint64_t(1) << 52;
  const int first = exponentOf(x) - 52 - 2 + 64, word = first / 64, shift = first % 64;
  uint64_t window[3];
  for (int i = 0; i < 3; ++i)
    window[i] = kBits[word + i] << shift | (shift ? kBits[word + i + 1] >> (64 - shift) : 0);
  using Wide = unsigned __int128;
  const Wide low = Wide(m) * window[2], middle = Wide(m) * window[1] + uint64_t(low >> 64);
  const uint64_t high = m * window[0] + uint64_t(middle >> 64);

  int quadrant = int(high >> 62);
  Wide fraction = (Wide(high) << 64 | uint64_t(middle)) << 2 | uint64_t(low) >> 62;
  const bool above = fraction >> 127 & 1; // the next quadrant is nearer
  if (above) {
    fraction = -fraction;
    ++quadrant;
  }
  // In parts of 43, 43 and 42 bits.
  constexpr uint64_t kMask = (uint64_t(1) << 43) - 1;
  const Pair parts = orderedSum(double(uint64_t(fraction >> 85)) * 0x1p-43,
                                double(uint64_t(fraction >> 42) & kMask) * 0x1p-86);
  const double rest = double(uint64_t(fraction) & (kMask >> 1)) * 0x1p-128;
  Pair r = orderedSum(parts.high, parts.low + rest) * Pair{kHalfPi, kHalfPiLow};
  if (above != (x < 0))
    r = -r;
  return {(x < 0 ? -quadrant : quadrant) & 3, r};
}

/// Up to 2^20 by pi/2 in parts of 33, 33, 53 and 53 bits: products of the quadrant with the first
/// two are exact.
LSTMC_PORTABLE Angle angleOf(double x) {
  if (magnitude(x) <= 0x1.921fb54442d18p-1)
    return {0, {x, 0}};
  if (magnitude(x) >= 0x1p20)
    return largeAngle(x);
  const double n = nearest(x * 0x1.45f306dc9c883p-1);
  const Pair r = sumOf(multiplyAdd(-n, 0x1.921fb544p+0, x), -n * 0x1.0b4611a6p-34);
  const Pair third = productOf(n, 0x1.3198a2e037073p-69);
  const Pair high = sumOf(r.high, -third.high);
  const double low = multiplyAdd(-n, 0x1.129024e088a68p-123, r.low - third.low);
  return {int(n) & 3, sumOf(high.high, high.low + low)};
}

/// sin r = r + r^3 S(r^2), |r| <= pi/4. S is a polynomial of degree 6 through the Chebyshev nodes,
/// relative error of the sine 2^-57.
LSTMC_PORTABLE Pair sineNear0(Pair r) {
  const double kCubic[] = {-0x1.5555555555555p-3, 0x1.1111111111110p-7,   -0x1.a01a01a019937p-13,
                           0x1.71de3a54607a5p-19, -0x1.ae64541295cdfp-26, 0x1.61217ee5cca1bp-33,
                           -0x1.ab17bdcbd3414p-41};
  const double square = r.high * r.high;
  const double cubic = r.high * square * polynomial(square, kCubic);
  return orderedSum(r.high, multiplyAdd(r.low, multiplyAdd(-0.5, square, 1), cubic));
}
/// cos r = 1 - r^2 / 2 + r^4 C(r^2), |r| <= pi/4, as above; error 2^-60.
LSTMC_PORTABLE Pair cosineNear0(Pair r) {
  const double kQuartic[] = {0x1.5555555555555p-5,   -0x1.6c16c16c16c16p-10, 0x1.a01a01a019d0ap-16,
                             -0x1.27e4fb7712ca2p-22, 0x1.1eed8deb82809p-29,  -0x1.9394b9eb4d56dp-37,
                             0x1.ab78473be59d7p-45};
  const Pair square = productOf(r.high, r.high);
  const double quartic = square.high * square.high * polynomial(square.high, kQuartic);
  const Pair sum = orderedSum(1, -0.5 * square.high);
  return orderedSum(sum.high, sum.low + (multiplyAdd(-r.high, r.low, -0.5 * square.low) + quartic));
}

/// The sine of quadrant * pi/2 + r.
LSTMC_PORTABLE Pair sineOf(Angle a) {
  const Pair sine = a.quadrant & 1 ? cosineNear0(a.r) : sineNear0(a.r);
  return a.quadrant & 2 ? -sine : sine;
}

LSTMC_PORTABLE double sine(double x) {
  if (magnitude(x) < 0x1p-28)
    return x;
  return magnitude(x) < kInfinity ? rounded(sineOf(angleOf(x))) : kNaN;
}
LSTMC_PORTABLE double cosine(double x) {
  if (!(magnitude(x) < kInfinity))
    return kNaN;
  const Angle angle = angleOf(x);
  return rounded(sineOf({(angle.quadrant + 1) & 3, angle.r}));
}
LSTMC_PORTABLE double tangent(double x) {
  if (magnitude(x) < 0x1p-28)
    return x;
  if (!(magnitude(x) < kInfinity))
    return kNaN;
  const Angle angle = angleOf(x);
  return rounded(sineOf(angle) / sineOf({(angle.quadrant + 1) & 3, angle.r}));
}

/// The sine of pi f, |f| <= 1/2.
LSTMC_PORTABLE Pair sineOfPi(double f) {
  const double size = magnitude(f);
  const Pair pi = {2 * kHalfPi, 2 * kHalfPiLow};
  const Pair sine = size <= 0.25 ? sineNear0(size * pi) : cosineNear0((0.5 - size) * pi);
  return f < 0 ? -sine : sine;
}

/// arctan t, t >= 0, without overflow of 1 / t. Above 1 it is pi/2 - arctan(1/t). With c the
/// nearest multiple of 1/4 it is arctan c + arctan v, v = (t - c) / (1 + t c), |v| <= 1/8, and
/// arctan v = v + v^3 A(v^2), A of degree 6 through the Chebyshev nodes, error 2^-61.
LSTMC_PORTABLE Pair arctangent(Pair t) {
  const double kCubic[] = {-0x1.5555555555555p-2, 0x1.999999999983ap-3,  -0x1.249249243a4f9p-3,
                           0x1.c71c70bed425bp-4,  -0x1.745c5a08c2c43p-4, 0x1.3acdfd3ba71cap-4,
                           -0x1.044574cbfb7cfp-4};
  const Pair kOfQuarters[] = {{0, 0},
                              {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
                              {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
                              {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
                              {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55}};
  const bool above = t.high > 1;
  const Pair u = above ? 1.0 / t : t;
  const double quarters = nearest(4 * u.high), c = quarters * 0.25;
  const Pair v = quarters == 0 ? u : (u - c) / (1 + u * c);
  const double square = v.high * v.high;
  const Pair ofV =
      orderedSum(v.high, multiplyAdd(v.high * square, polynomial(square, kCubic), v.low));
  const Pair result = quarters == 0 ? ofV : kOfQuarters[int(quarters)] + ofV;
  return above ? Pair{kHalfPi, kHalfPiLow} - result : result;
}

LSTMC_PORTABLE double inverseTangent(double x) {
  const double size = magnitude(x);
  if (size < 0x1p-28 || isNan(x))
    return x;
  return withSign(size < 0x1p60 ? rounded(arctangent(Pair{size, 0})) : kHalfPi, x);
}

/// arctan(x / sqrt((1 - x) (1 + x))).
LSTMC_PORTABLE double inverseSine(double x) {
  const double size = magnitude(x);
  if (size < 0x1p-28)
    return x;
  if (!(size < 1))
    return size == 1 ? withSign(kHalfPi, x) : kNaN;
  const Pair across = root(sumOf(1, -size) * sumOf(1, size));
  return withSign(rounded(arctangent(size / across)), x);
}

/// 2 arctan(sqrt((1 - x) / (1 + x))).
LSTMC_PORTABLE double inverseCosine(double x) {
  if (!(magnitude(x) < 1))
    return x == 1 ? 0 : x == -1 ? 2 * kHalfPi : kNaN;
  return 2 * rounded(arctangent(root(sumOf(1, -x) / sumOf(1, x))));
}

} // namespace lstmc::real
