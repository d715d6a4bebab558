// The 16 lanes of sums in f64: one fma per term, then the tree. Compiled once per level.
#pragma once

#include "backends/cpu/runtime/Lanes.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

/// A vector of eight or four doubles, or one double.
struct Wide {
#if LSTMC_CPU_WIDTH == 16
  static constexpr int kCount = 8;
  __m512d v;
  static LSTMC_INLINE Wide zero() { return {_mm512_setzero_pd()}; }
  static LSTMC_INLINE Wide broadcast(double x) { return {_mm512_set1_pd(x)}; }
  static LSTMC_INLINE Wide load(const double *p) { return {_mm512_loadu_pd(p)}; }
  static LSTMC_INLINE Wide load(const float *p) { return {_mm512_cvtps_pd(_mm256_loadu_ps(p))}; }
  LSTMC_INLINE void store(double *p) const { _mm512_storeu_pd(p, v); }
  friend LSTMC_INLINE Wide operator*(Wide a, Wide b) { return {_mm512_mul_pd(a.v, b.v)}; }
  friend LSTMC_INLINE Wide fma(Wide a, Wide b, Wide c) { return {_mm512_fmadd_pd(a.v, b.v, c.v)}; }
#elif LSTMC_CPU_WIDTH == 8
  static constexpr int kCount = 4;
  __m256d v;
  static LSTMC_INLINE Wide zero() { return {_mm256_setzero_pd()}; }
  static LSTMC_INLINE Wide broadcast(double x) { return {_mm256_set1_pd(x)}; }
  static LSTMC_INLINE Wide load(const double *p) { return {_mm256_loadu_pd(p)}; }
  static LSTMC_INLINE Wide load(const float *p) { return {_mm256_cvtps_pd(_mm_loadu_ps(p))}; }
  LSTMC_INLINE void store(double *p) const { _mm256_storeu_pd(p, v); }
  friend LSTMC_INLINE Wide operator*(Wide a, Wide b) { return {_mm256_mul_pd(a.v, b.v)}; }
  friend LSTMC_INLINE Wide fma(Wide a, Wide b, Wide c) { return {_mm256_fmadd_pd(a.v, b.v, c.v)}; }
#else
  static constexpr int kCount = 1;
  double v;
  static LSTMC_INLINE Wide zero() { return {0}; }
  static LSTMC_INLINE Wide broadcast(double x) { return {x}; }
  static LSTMC_INLINE Wide load(const double *p) { return {*p}; }
  static LSTMC_INLINE Wide load(const float *p) { return {*p}; }
  LSTMC_INLINE void store(double *p) const { *p = v; }
  friend LSTMC_INLINE Wide operator*(Wide a, Wide b) { return {a.v * b.v}; }
  friend LSTMC_INLINE Wide fma(Wide a, Wide b, Wide c) { return {__builtin_fma(a.v, b.v, c.v)}; }
#endif
};

/// The same as treeOfLanes, for f64.
inline double treeOfLanes(const double (&lanes)[kPanel]) {
  double level[kPanel];
  for (int i = 0; i < kPanel; ++i)
    level[i] = lanes[i];
  for (int n = int(kPanel) / 2; n > 0; n /= 2)
    for (int i = 0; i < n; ++i)
      level[i] = level[2 * i] + level[2 * i + 1];
  return level[0];
}

/// Sum of v[e] * w[e], for f32 or f64.
template <typename T> double dot(const T *v, const T *w, int64_t count) {
  constexpr int kParts = int(kPanel) / Wide::kCount;
  Wide parts[kParts];
  for (Wide &part : parts)
    part = Wide::zero();
  int64_t e = 0;
  for (; e + kPanel <= count; e += kPanel)
    for (int j = 0; j < kParts; ++j)
      parts[j] =
          fma(Wide::load(v + e + j * Wide::kCount), Wide::load(w + e + j * Wide::kCount), parts[j]);
  alignas(64) double lanes[kPanel];
  for (int j = 0; j < kParts; ++j)
    parts[j].store(lanes + j * Wide::kCount);
  for (int l = 0; e < count; ++e, ++l)
    lanes[l] = __builtin_fma(double(v[e]), double(w[e]), lanes[l]);
  return treeOfLanes(lanes);
}

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
