// Arithmetic in which a denormal counts as 0, as an operand and as a result (docs/numerics.md
// rule 11), for a machine that keeps denormals: f64 on GPUs, and f32 too on the emulated GPU.
#pragma once

#include <type_traits>

#include "executor/base/functions/Pair.h"

namespace lstmc::gpu::flushing {

/// T is float or double.
template <typename T> struct Format {
  using Bits = std::conditional_t<sizeof(T) == sizeof(float), uint32_t, uint64_t>;
  static constexpr int kFraction = sizeof(T) == sizeof(float) ? 23 : 52;
  static constexpr Bits kSign = Bits(1) << (8 * sizeof(T) - 1);
  static constexpr Bits kSmallest = Bits(1) << kFraction; ///< normal number
  static constexpr Bits kExponent = kSign - kSmallest;
  static constexpr T kScale = T(0x1p64);
  static constexpr Bits kScaledSmallest = kSmallest + (Bits(64) << kFraction);
};

template <typename T> LSTMC_PORTABLE auto bitsOf(T x) {
  return std::bit_cast<typename Format<T>::Bits>(x);
}
template <typename T> LSTMC_PORTABLE auto magnitudeOf(T x) { return bitsOf(x) & ~Format<T>::kSign; }
template <typename T> LSTMC_PORTABLE T zeroOf(T x) {
  return std::bit_cast<T>(bitsOf(x) & Format<T>::kSign);
}

/// A denormal becomes a zero of its sign.
template <typename T> LSTMC_PORTABLE T flushed(T x) {
  return bitsOf(x) & Format<T>::kExponent ? x : zeroOf(x);
}

/// A rounded result, flushed where it is tiny. A CPU decides that by what it would be with an
/// unbounded exponent. Below the smallest normal number are two places of rounding, of which a
/// machine that keeps denormals has only the coarser one. So a result that is the smallest normal
/// number may be one that a CPU rounds to less: again(2^64) is 2^64 times the result, far above
/// all denormals.
template <typename T, typename Again> LSTMC_PORTABLE T result(T x, Again again) {
  if (magnitudeOf(x) == Format<T>::kSmallest &&
      magnitudeOf(again(Format<T>::kScale)) < Format<T>::kScaledSmallest)
    return zeroOf(x);
  return flushed(x);
}

/// Sums near the smallest normal number are exact.
template <typename T> LSTMC_PORTABLE T sum(T a, T b) { return flushed(flushed(a) + flushed(b)); }
template <typename T> LSTMC_PORTABLE T difference(T a, T b) {
  return flushed(flushed(a) - flushed(b));
}
/// Where it is about the smallest normal number, a is at most 2, and a * 2^64 is exact.
template <typename T> LSTMC_PORTABLE T product(T a, T b) {
  const T x = flushed(a), y = flushed(b);
  return result(x * y, [=](T scale) { return x * scale * y; });
}
/// Where it is about the smallest normal number, a is at most 4.
template <typename T> LSTMC_PORTABLE T quotient(T a, T b) {
  const T x = flushed(a), y = flushed(b);
  return result(x / y, [=](T scale) { return x * scale / y; });
}

template <typename T> LSTMC_PORTABLE T roundedOnce(T a, T b, T c) {
  if constexpr (std::is_same_v<T, double>)
    return real::multiplyAdd(a, b, c);
  else
    return __builtin_fmaf(a, b, c);
}
/// a * b + c, rounded once. Where it is about the smallest normal number and b is not 0, the last
/// bit of a * b is so small that a * 2^64 and c * 2^64 are exact. If b is 0, the result is c, and
/// a * 2^64 may be infinite: a NaN is not below the smallest number either.
template <typename T> LSTMC_PORTABLE T multiplyAdd(T a, T b, T c) {
  const T x = flushed(a), y = flushed(b), z = flushed(c);
  return result(roundedOnce(x, y, z),
                [=](T scale) { return roundedOnce(x * scale, y, z * scale); });
}
/// Square roots of normal numbers are far above the denormals.
template <typename T> LSTMC_PORTABLE T root(T a) {
  if constexpr (std::is_same_v<T, double>)
    return real::root(flushed(a));
  else
    return __builtin_sqrtf(flushed(a));
}
LSTMC_PORTABLE float narrowed(double a) {
  return result(float(a), [=](float scale) { return float(a * double(scale)); });
}

} // namespace lstmc::gpu::flushing
