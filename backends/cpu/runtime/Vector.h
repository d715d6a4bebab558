// The f32 vector of the level that this file is compiled for, with the operations that kernels and
// base/ElementaryFunctions.h use.
//
// Kernel files are compiled once per level (lstmc_cpu_levels in CMakeLists.txt), which defines
//   LSTMC_CPU_NAMESPACE  scalar, avx2 or avx512: everything a kernel file defines is in
//                        lstmc::cpu::<it>
//   LSTMC_CPU_WIDTH      1, 8 or 16 lanes
// Every operation is correctly rounded (or exact), so equal sources give equal bits at every level.
#pragma once

#include <cstdint>

#include "executor/abi/Packing.h"

#if !defined(LSTMC_CPU_NAMESPACE) || !defined(LSTMC_CPU_WIDTH)
#error "compiled once per level: list the file with lstmc_cpu_levels()"
#endif

#if LSTMC_CPU_WIDTH == 1

#include "executor/base/ScalarFloat.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {
struct ThisLevel;
using Vector = ScalarFloat<ThisLevel>;
} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE

#else

#include <immintrin.h>

#define LSTMC_INLINE __attribute__((always_inline)) inline

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

#if LSTMC_CPU_WIDTH == 16

struct Vector {
  static constexpr int kWidth = 16;
  struct Mask {
    __mmask16 on;
    friend LSTMC_INLINE Mask operator&(Mask a, Mask b) { return {__mmask16(a.on & b.on)}; }
    friend LSTMC_INLINE Mask operator|(Mask a, Mask b) { return {__mmask16(a.on | b.on)}; }
    friend LSTMC_INLINE Mask operator!(Mask a) { return {__mmask16(~a.on)}; }
  };

  __m512 v;

  static LSTMC_INLINE Vector broadcast(float x) { return {_mm512_set1_ps(x)}; }
  static LSTMC_INLINE Vector zero() { return {_mm512_setzero_ps()}; }
  static LSTMC_INLINE Vector load(const float *p) { return {_mm512_loadu_ps(p)}; }
  LSTMC_INLINE void store(float *p) const { _mm512_storeu_ps(p, v); }
  /// Lanes 0 to count - 1.
  static LSTMC_INLINE Mask firstLanes(int64_t count) {
    return {__mmask16(count >= 16 ? 0xffff : count <= 0 ? 0 : (1u << count) - 1)};
  }
  /// Lanes that are not in the mask are not read, and are 0.
  static LSTMC_INLINE Vector load(const float *p, Mask m) {
    return {_mm512_maskz_loadu_ps(m.on, p)};
  }
  LSTMC_INLINE void store(float *p, Mask m) const { _mm512_mask_storeu_ps(p, m.on, v); }

  friend LSTMC_INLINE Vector operator+(Vector a, Vector b) { return {_mm512_add_ps(a.v, b.v)}; }
  friend LSTMC_INLINE Vector operator-(Vector a, Vector b) { return {_mm512_sub_ps(a.v, b.v)}; }
  friend LSTMC_INLINE Vector operator*(Vector a, Vector b) { return {_mm512_mul_ps(a.v, b.v)}; }
  friend LSTMC_INLINE Vector operator/(Vector a, Vector b) { return {_mm512_div_ps(a.v, b.v)}; }
  friend LSTMC_INLINE Vector operator-(Vector a) {
    return {_mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(a.v), sign()))};
  }
  friend LSTMC_INLINE Vector fma(Vector a, Vector b, Vector c) {
    return {_mm512_fmadd_ps(a.v, b.v, c.v)};
  }
  friend LSTMC_INLINE Vector sqrt(Vector a) { return {_mm512_sqrt_ps(a.v)}; }
  friend LSTMC_INLINE Vector abs(Vector a) { return {_mm512_abs_ps(a.v)}; }
  friend LSTMC_INLINE Vector copySign(Vector a, Vector s) {
    // 0xe4: picks the second operand where the sign bit of the third is set, else the first
    return {_mm512_castsi512_ps(_mm512_ternarylogic_epi32(_mm512_castps_si512(a.v),
                                                          _mm512_castps_si512(s.v), sign(), 0xd8))};
  }
  /// a < b ? a : b, which is b if either is NaN; `max` likewise.
  friend LSTMC_INLINE Vector min(Vector a, Vector b) { return {_mm512_min_ps(a.v, b.v)}; }
  friend LSTMC_INLINE Vector max(Vector a, Vector b) { return {_mm512_max_ps(a.v, b.v)}; }
  friend LSTMC_INLINE Vector roundEven(Vector a) { return {_mm512_roundscale_ps(a.v, 0x8)}; }
  friend LSTMC_INLINE Vector floor(Vector a) { return {_mm512_roundscale_ps(a.v, 0x9)}; }
  friend LSTMC_INLINE Vector ceil(Vector a) { return {_mm512_roundscale_ps(a.v, 0xa)}; }
  friend LSTMC_INLINE Vector trunc(Vector a) { return {_mm512_roundscale_ps(a.v, 0xb)}; }

  friend LSTMC_INLINE Mask operator<(Vector a, Vector b) {
    return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ)};
  }
  friend LSTMC_INLINE Mask operator<=(Vector a, Vector b) {
    return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LE_OQ)};
  }
  friend LSTMC_INLINE Mask operator>(Vector a, Vector b) {
    return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_GT_OQ)};
  }
  friend LSTMC_INLINE Mask operator>=(Vector a, Vector b) {
    return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_GE_OQ)};
  }
  friend LSTMC_INLINE Mask operator==(Vector a, Vector b) {
    return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_EQ_OQ)};
  }
  friend LSTMC_INLINE Mask operator!=(Vector a, Vector b) {
    return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_NEQ_UQ)};
  }
  friend LSTMC_INLINE Vector select(Mask m, Vector a, Vector b) {
    return {_mm512_mask_blend_ps(m.on, b.v, a.v)};
  }

  /// 2^n for whole n in [-126, 127].
  friend LSTMC_INLINE Vector powerOf2(Vector n) {
    __m512i exponent = _mm512_add_epi32(_mm512_cvttps_epi32(n.v), _mm512_set1_epi32(127));
    return {_mm512_castsi512_ps(_mm512_slli_epi32(exponent, 23))};
  }
  /// p * 2^n for 0.5 <= p < 4 and whole n in [-151, 129], rounded once.
  friend LSTMC_INLINE Vector scaleByPowerOf2(Vector p, Vector n) {
    return {_mm512_scalef_ps(p.v, n.v)};
  }
  /// For positive normal x = 2^e m, m in [0.707, 1.414): returns m. For other x the result is
  /// unspecified, but computing it does not trap.
  friend LSTMC_INLINE Vector splitExponent(Vector x, Vector &e) {
    const __m512i kRootHalf = _mm512_set1_epi32(0x3f3504f3);
    __m512i bits = _mm512_sub_epi32(_mm512_castps_si512(x.v), kRootHalf);
    e.v = _mm512_cvtepi32_ps(_mm512_srai_epi32(bits, 23));
    bits = _mm512_and_si512(bits, _mm512_set1_epi32(0x007fffff));
    return {_mm512_castsi512_ps(_mm512_add_epi32(bits, kRootHalf))};
  }

private:
  static LSTMC_INLINE __m512i sign() { return _mm512_set1_epi32(int(0x80000000)); }
};

#else

struct Vector {
  static constexpr int kWidth = 8;
  struct Mask {
    __m256 on; ///< each lane has all bits set, or none
    friend LSTMC_INLINE Mask operator&(Mask a, Mask b) { return {_mm256_and_ps(a.on, b.on)}; }
    friend LSTMC_INLINE Mask operator|(Mask a, Mask b) { return {_mm256_or_ps(a.on, b.on)}; }
    friend LSTMC_INLINE Mask operator!(Mask a) {
      return {_mm256_xor_ps(a.on, _mm256_castsi256_ps(_mm256_set1_epi32(-1)))};
    }
  };

  __m256 v;

  static LSTMC_INLINE Vector broadcast(float x) { return {_mm256_set1_ps(x)}; }
  static LSTMC_INLINE Vector zero() { return {_mm256_setzero_ps()}; }
  static LSTMC_INLINE Vector load(const float *p) { return {_mm256_loadu_ps(p)}; }
  LSTMC_INLINE void store(float *p) const { _mm256_storeu_ps(p, v); }
  /// Lanes 0 to count - 1.
  static LSTMC_INLINE Mask firstLanes(int64_t count) {
    int n = int(count > 8 ? 8 : count);
    return {_mm256_castsi256_ps(
        _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)))};
  }
  /// Lanes that are not in the mask are not read, and are 0.
  static LSTMC_INLINE Vector load(const float *p, Mask m) {
    return {_mm256_maskload_ps(p, _mm256_castps_si256(m.on))};
  }
  LSTMC_INLINE void store(float *p, Mask m) const {
    _mm256_maskstore_ps(p, _mm256_castps_si256(m.on), v);
  }

  friend LSTMC_INLINE Vector operator+(Vector a, Vector b) { return {_mm256_add_ps(a.v, b.v)}; }
  friend LSTMC_INLINE Vector operator-(Vector a, Vector b) { return {_mm256_sub_ps(a.v, b.v)}; }
  friend LSTMC_INLINE Vector operator*(Vector a, Vector b) { return {_mm256_mul_ps(a.v, b.v)}; }
  friend LSTMC_INLINE Vector operator/(Vector a, Vector b) { return {_mm256_div_ps(a.v, b.v)}; }
  friend LSTMC_INLINE Vector operator-(Vector a) { return {_mm256_xor_ps(a.v, sign())}; }
  friend LSTMC_INLINE Vector fma(Vector a, Vector b, Vector c) {
    return {_mm256_fmadd_ps(a.v, b.v, c.v)};
  }
  friend LSTMC_INLINE Vector sqrt(Vector a) { return {_mm256_sqrt_ps(a.v)}; }
  friend LSTMC_INLINE Vector abs(Vector a) { return {_mm256_andnot_ps(sign(), a.v)}; }
  friend LSTMC_INLINE Vector copySign(Vector a, Vector s) {
    return {_mm256_or_ps(_mm256_andnot_ps(sign(), a.v), _mm256_and_ps(sign(), s.v))};
  }
  /// a < b ? a : b, which is b if either is NaN; `max` likewise.
  friend LSTMC_INLINE Vector min(Vector a, Vector b) { return {_mm256_min_ps(a.v, b.v)}; }
  friend LSTMC_INLINE Vector max(Vector a, Vector b) { return {_mm256_max_ps(a.v, b.v)}; }
  friend LSTMC_INLINE Vector roundEven(Vector a) { return {_mm256_round_ps(a.v, 0x8)}; }
  friend LSTMC_INLINE Vector floor(Vector a) { return {_mm256_round_ps(a.v, 0x9)}; }
  friend LSTMC_INLINE Vector ceil(Vector a) { return {_mm256_round_ps(a.v, 0xa)}; }
  friend LSTMC_INLINE Vector trunc(Vector a) { return {_mm256_round_ps(a.v, 0xb)}; }

  friend LSTMC_INLINE Mask operator<(Vector a, Vector b) {
    return {_mm256_cmp_ps(a.v, b.v, _CMP_LT_OQ)};
  }
  friend LSTMC_INLINE Mask operator<=(Vector a, Vector b) {
    return {_mm256_cmp_ps(a.v, b.v, _CMP_LE_OQ)};
  }
  friend LSTMC_INLINE Mask operator>(Vector a, Vector b) {
    return {_mm256_cmp_ps(a.v, b.v, _CMP_GT_OQ)};
  }
  friend LSTMC_INLINE Mask operator>=(Vector a, Vector b) {
    return {_mm256_cmp_ps(a.v, b.v, _CMP_GE_OQ)};
  }
  friend LSTMC_INLINE Mask operator==(Vector a, Vector b) {
    return {_mm256_cmp_ps(a.v, b.v, _CMP_EQ_OQ)};
  }
  friend LSTMC_INLINE Mask operator!=(Vector a, Vector b) {
    return {_mm256_cmp_ps(a.v, b.v, _CMP_NEQ_UQ)};
  }
  friend LSTMC_INLINE Vector select(Mask m, Vector a, Vector b) {
    return {_mm256_blendv_ps(b.v, a.v, m.on)};
  }

  /// 2^n for whole n in [-126, 127].
  friend LSTMC_INLINE Vector powerOf2(Vector n) {
    __m256i exponent = _mm256_add_epi32(_mm256_cvttps_epi32(n.v), _mm256_set1_epi32(127));
    return {_mm256_castsi256_ps(_mm256_slli_epi32(exponent, 23))};
  }
  /// p * 2^n for 0.5 <= p < 4 and whole n in [-151, 129], rounded once.
  friend LSTMC_INLINE Vector scaleByPowerOf2(Vector p, Vector n) {
    Vector half = floor(n * broadcast(0.5f));
    return p * powerOf2(half) * powerOf2(n - half); // the first product is exact
  }
  /// For positive normal x = 2^e m, m in [0.707, 1.414): returns m. For other x the result is
  /// unspecified, but computing it does not trap.
  friend LSTMC_INLINE Vector splitExponent(Vector x, Vector &e) {
    const __m256i kRootHalf = _mm256_set1_epi32(0x3f3504f3);
    __m256i bits = _mm256_sub_epi32(_mm256_castps_si256(x.v), kRootHalf);
    e.v = _mm256_cvtepi32_ps(_mm256_srai_epi32(bits, 23));
    bits = _mm256_and_si256(bits, _mm256_set1_epi32(0x007fffff));
    return {_mm256_castsi256_ps(_mm256_add_epi32(bits, kRootHalf))};
  }

private:
  static LSTMC_INLINE __m256 sign() { return _mm256_set1_ps(-0.0f); }
};

#endif

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE

#endif

#ifndef LSTMC_INLINE
#define LSTMC_INLINE __attribute__((always_inline)) inline
#endif
/// Written after a lambda's parameters: the lambda is always inlined.
#define LSTMC_LAMBDA __attribute__((always_inline))

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {
/// Number of lanes of a vector, and of vectors in a panel of a packed matrix.
inline constexpr int kWidth = Vector::kWidth;
inline constexpr int kPanelVectors = int(kPanel) / kWidth;
} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
