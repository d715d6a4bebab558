// Conversion between element types: the meaning of `cast`, and how narrow types are read and
// written. `constexpr` lets nvcc compile it for GPUs.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "executor/abi/DType.h"

namespace lstmc {

/// f16 and bf16 as stored. Arithmetic is on f32.
struct Half {
  uint16_t bits;
};
struct BFloat {
  uint16_t bits;
};

/// Exact, for denormal halves too. Uses integer operations only, so the floating-point mode does
/// not matter.
constexpr float widen(Half half) {
  uint32_t sign = uint32_t(half.bits & 0x8000) << 16;
  uint32_t exponent = half.bits >> 10 & 0x1f, fraction = half.bits & 0x3ff;
  if (exponent == 0x1f)
    return std::bit_cast<float>(sign | 0x7f800000 | fraction << 13);
  if (exponent == 0) {
    if (fraction == 0)
      return std::bit_cast<float>(sign);
    int shift = std::countl_zero(fraction) - 21; // moves the leading bit to bit 10
    fraction = fraction << shift & 0x3ff;
    exponent = uint32_t(1 - shift);
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

constexpr float widen(BFloat value) { return std::bit_cast<float>(uint32_t(value.bits) << 16); }

/// Rounds to nearest even; values beyond the largest half become infinity.
constexpr Half toHalf(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  auto sign = uint16_t(bits >> 16 & 0x8000);
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return {uint16_t(sign | 0x7e00)};
  if (magnitude >= 0x47800000) // 2^16, beyond every half
    return {uint16_t(sign | 0x7c00)};
  if (magnitude < 0x33000000) // below half of the least denormal half
    return {sign};
  uint32_t exponent = magnitude >> 23;
  uint32_t fraction = (magnitude & 0x7fffff) | 0x800000;
  uint32_t drop =
      exponent >= 113 ? 13 : 126 - exponent; // bits of the fraction that are rounded away
  uint32_t kept = fraction >> drop, rest = fraction & ((1u << drop) - 1), tie = 1u << (drop - 1);
  kept += rest > tie || (rest == tie && (kept & 1));
  // A carry out of the fraction correctly increases the exponent.
  uint32_t result = exponent >= 113 ? ((exponent - 113) << 10) + kept : kept;
  return {uint16_t(sign | result)};
}

constexpr BFloat toBFloat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return {uint16_t(bits >> 16 | 0x40)};
  return {uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

/// The meaning of ScalarOp::Cast. Float to integer truncates towards 0 and saturates; NaN becomes
/// 0. Integers wrap. To bool: x != 0. Everything else is rounded to nearest even.
template <typename To, typename From> constexpr To convert(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, BFloat>) {
    return convert<To>(widen(value));
  } else if constexpr (std::is_same_v<To, Half>) {
    return toHalf(convert<float>(value));
  } else if constexpr (std::is_same_v<To, BFloat>) {
    return toBFloat(convert<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From(0);
  } else if constexpr (std::floating_point<From> && std::integral<To>) {
    // Both bounds are powers of two, so they are exact: [-2^n, 2^n) for signed, [0, 2^n) for
    // unsigned types.
    constexpr auto kLow = From(std::numeric_limits<To>::min());
    constexpr From kHigh = From(To(1) << (std::numeric_limits<To>::digits - 1)) * 2;
    if (!(value == value))
      return To(0);
    if (value < kLow)
      return std::numeric_limits<To>::min();
    return value >= kHigh ? std::numeric_limits<To>::max() : To(value);
  } else {
    return static_cast<To>(value);
  }
}

/// The type in which arithmetic on an element is done: f32 for f16 and bf16, i32 for i8 and u8.
constexpr DType widenedType(DType type) {
  switch (type) {
  case DType::F16:
  case DType::BF16:
    return DType::F32;
  case DType::I8:
  case DType::U8:
    return DType::I32;
  default:
    return type;
  }
}

/// Calls f(T()) with the type of the elements as they are stored.
template <typename F> constexpr decltype(auto) withType(DType type, F &&f) {
  switch (type) {
  case DType::F32:
    return f(float());
  case DType::F64:
    return f(double());
  case DType::F16:
    return f(Half());
  case DType::BF16:
    return f(BFloat());
  case DType::I8:
    return f(int8_t());
  case DType::U8:
    return f(uint8_t());
  case DType::I32:
    return f(int32_t());
  case DType::I64:
    return f(int64_t());
  case DType::Bool:
    break;
  }
  return f(bool());
}

/// Calls f(T()) for one of the five types of arithmetic: f32, f64, i32, i64, bool.
template <typename F> constexpr decltype(auto) withWidenedType(DType type, F &&f) {
  switch (widenedType(type)) {
  case DType::F64:
    return f(double());
  case DType::I32:
    return f(int32_t());
  case DType::I64:
    return f(int64_t());
  case DType::Bool:
    return f(bool());
  default:
    return f(float());
  }
}

/// Element `at` of an array of `type`, converted. Any nonzero byte is a true bool.
template <typename T> inline T readElement(const void *data, DType type, int64_t at) {
  if (type == DType::Bool)
    return convert<T>(static_cast<const uint8_t *>(data)[at] != 0);
  return withType(type, [&](auto stored) {
    return convert<T>(static_cast<const decltype(stored) *>(data)[at]);
  });
}

template <typename T> inline void writeElement(void *data, DType type, int64_t at, T value) {
  withType(type, [&](auto stored) {
    using Stored = decltype(stored);
    static_cast<Stored *>(data)[at] = convert<Stored>(value);
  });
}

} // namespace lstmc
