// One f32 with the operations of a vector: the width-1 version of the types in
// backends/cpu/runtime/Vector.h.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include <emmintrin.h>

namespace lstmc {

/// Needs no instruction set (std::fma is exact everywhere). `Tag` separates the instantiations of
/// files that are compiled with different flags, so that the linker does not merge them.
template <typename Tag = void> struct ScalarFloat {
  static constexpr int kWidth = 1;
  /// Which lanes are used: the first `count`.
  struct Mask {
    bool on;
  };

  float v;

  static ScalarFloat broadcast(float x) { return {x}; }
  static ScalarFloat zero() { return {0.0f}; }
  static ScalarFloat load(const float *p) { return {*p}; }
  void store(float *p) const { *p = v; }
  static Mask firstLanes(int64_t count) { return {count > 0}; }
  static ScalarFloat load(const float *p, Mask m) { return {m.on ? *p : 0.0f}; }
  void store(float *p, Mask m) const {
    if (m.on)
      *p = v;
  }

  friend ScalarFloat operator+(ScalarFloat a, ScalarFloat b) { return {a.v + b.v}; }
  friend ScalarFloat operator-(ScalarFloat a, ScalarFloat b) { return {a.v - b.v}; }
  friend ScalarFloat operator*(ScalarFloat a, ScalarFloat b) { return {a.v * b.v}; }
  friend ScalarFloat operator/(ScalarFloat a, ScalarFloat b) { return {a.v / b.v}; }
  friend ScalarFloat operator-(ScalarFloat a) { return {-a.v}; }
  friend ScalarFloat fma(ScalarFloat a, ScalarFloat b, ScalarFloat c) {
    return {std::fma(a.v, b.v, c.v)};
  }
  friend ScalarFloat sqrt(ScalarFloat a) { return {std::sqrt(a.v)}; }
  friend ScalarFloat abs(ScalarFloat a) { return {std::fabs(a.v)}; }
  friend ScalarFloat copySign(ScalarFloat a, ScalarFloat sign) {
    return {std::copysign(a.v, sign.v)};
  }
  /// a < b ? a : b, which is b if either is NaN; `max` likewise. Uses the SSE instructions, because
  /// they flush denormals to 0 as the vector instructions do.
  friend ScalarFloat min(ScalarFloat a, ScalarFloat b) {
    return {_mm_cvtss_f32(_mm_min_ss(_mm_set_ss(a.v), _mm_set_ss(b.v)))};
  }
  friend ScalarFloat max(ScalarFloat a, ScalarFloat b) {
    return {_mm_cvtss_f32(_mm_max_ss(_mm_set_ss(a.v), _mm_set_ss(b.v)))};
  }
  friend ScalarFloat roundEven(ScalarFloat a) { return {std::nearbyint(a.v)}; }
  friend ScalarFloat floor(ScalarFloat a) { return {std::floor(a.v)}; }
  friend ScalarFloat ceil(ScalarFloat a) { return {std::ceil(a.v)}; }
  friend ScalarFloat trunc(ScalarFloat a) { return {std::trunc(a.v)}; }

  friend Mask operator<(ScalarFloat a, ScalarFloat b) { return {a.v < b.v}; }
  friend Mask operator<=(ScalarFloat a, ScalarFloat b) { return {a.v <= b.v}; }
  friend Mask operator>(ScalarFloat a, ScalarFloat b) { return {a.v > b.v}; }
  friend Mask operator>=(ScalarFloat a, ScalarFloat b) { return {a.v >= b.v}; }
  friend Mask operator==(ScalarFloat a, ScalarFloat b) { return {a.v == b.v}; }
  friend Mask operator!=(ScalarFloat a, ScalarFloat b) { return {a.v != b.v}; }
  friend Mask operator&(Mask a, Mask b) { return {a.on && b.on}; }
  friend Mask operator|(Mask a, Mask b) { return {a.on || b.on}; }
  friend Mask operator!(Mask a) { return {!a.on}; }
  friend ScalarFloat select(Mask m, ScalarFloat a, ScalarFloat b) { return m.on ? a : b; }

  /// 2^n for whole n in [-126, 127].
  friend ScalarFloat powerOf2(ScalarFloat n) {
    uint32_t exponent =
        uint32_t(_mm_cvttss_si32(_mm_set_ss(n.v))) + 127; // defined for NaN, unlike a cast
    return {std::bit_cast<float>(exponent << 23)};
  }
  /// p * 2^n for 0.5 <= p < 4 and whole n in [-151, 129], rounded once.
  friend ScalarFloat scaleByPowerOf2(ScalarFloat p, ScalarFloat n) {
    ScalarFloat half = floor(n * broadcast(0.5f));
    return p * powerOf2(half) * powerOf2(n - half);
  }
  /// For positive normal x = 2^e m, m in [0.707, 1.414): returns m. For other x the result is
  /// unspecified, but computing it does not trap.
  friend ScalarFloat splitExponent(ScalarFloat x, ScalarFloat &e) {
    constexpr int32_t kRootHalf = 0x3f3504f3;
    int32_t bits = int32_t(uint32_t(std::bit_cast<int32_t>(x.v)) - uint32_t(kRootHalf));
    e.v = float(bits >> 23);
    return {std::bit_cast<float>((bits & 0x007fffff) + kRootHalf)};
  }
};

} // namespace lstmc
