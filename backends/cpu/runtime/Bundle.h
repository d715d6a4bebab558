// Several vectors on which the same operations are done at the same time.
#pragma once

#include <type_traits>

#include "backends/cpu/runtime/Vector.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

/// A type of N vectors with the operations of one. The functions of a gate are long chains of
/// dependent operations. On bundles, the chains of N vectors are interleaved, so that the processor
/// finds independent work nearby. Each lane gets the same result as alone.
template <typename V, int N> struct Bundle {
  struct Mask {
    typename V::Mask on[N];
  };

  V v[N];

  static LSTMC_INLINE Bundle broadcast(float x) {
    return make([&](int) LSTMC_LAMBDA { return V::broadcast(x); });
  }
  static LSTMC_INLINE Bundle zero() { return broadcast(0.0f); }

  template <typename F> static LSTMC_INLINE Bundle make(F f) {
    Bundle result;
#pragma unroll
    for (int i = 0; i < N; ++i)
      result.v[i] = f(i);
    return result;
  }

#define LSTMC_BUNDLE_1(NAME)                                                                       \
  friend LSTMC_INLINE Bundle NAME(const Bundle &a) {                                               \
    return make([&](int i) LSTMC_LAMBDA { return NAME(a.v[i]); });                                 \
  }
#define LSTMC_BUNDLE_2(NAME)                                                                       \
  friend LSTMC_INLINE Bundle NAME(const Bundle &a, const Bundle &b) {                              \
    return make([&](int i) LSTMC_LAMBDA { return NAME(a.v[i], b.v[i]); });                         \
  }
#define LSTMC_BUNDLE_OPERATOR(OP)                                                                  \
  friend LSTMC_INLINE Bundle operator OP(const Bundle &a, const Bundle &b) {                       \
    return make([&](int i) LSTMC_LAMBDA { return a.v[i] OP b.v[i]; });                             \
  }
#define LSTMC_BUNDLE_COMPARISON(OP)                                                                \
  friend LSTMC_INLINE Mask operator OP(const Bundle &a, const Bundle &b) {                         \
    Mask mask;                                                                                     \
    for (int i = 0; i < N; ++i)                                                                    \
      mask.on[i] = a.v[i] OP b.v[i];                                                               \
    return mask;                                                                                   \
  }
  LSTMC_BUNDLE_1(abs)
  LSTMC_BUNDLE_1(roundEven)
  LSTMC_BUNDLE_1(powerOf2)
  LSTMC_BUNDLE_1(operator-)
  LSTMC_BUNDLE_2(min)
  LSTMC_BUNDLE_2(max)
  LSTMC_BUNDLE_2(copySign)
  LSTMC_BUNDLE_2(scaleByPowerOf2)
  LSTMC_BUNDLE_OPERATOR(+)
  LSTMC_BUNDLE_OPERATOR(-)
  LSTMC_BUNDLE_OPERATOR(*)
  LSTMC_BUNDLE_OPERATOR(/)
  LSTMC_BUNDLE_COMPARISON(<=)
  LSTMC_BUNDLE_COMPARISON(>)
#undef LSTMC_BUNDLE_1
#undef LSTMC_BUNDLE_2
#undef LSTMC_BUNDLE_OPERATOR
#undef LSTMC_BUNDLE_COMPARISON

  friend LSTMC_INLINE Bundle fma(const Bundle &a, const Bundle &b, const Bundle &c) {
    return make([&](int i) LSTMC_LAMBDA { return fma(a.v[i], b.v[i], c.v[i]); });
  }
  friend LSTMC_INLINE Bundle select(const Mask &m, const Bundle &a, const Bundle &b) {
    return make([&](int i) LSTMC_LAMBDA { return select(m.on[i], a.v[i], b.v[i]); });
  }
};

/// R vectors: a bundle, or a plain vector if R is 1.
template <int R> using Group = std::conditional_t<R == 1, Vector, Bundle<Vector, R>>;

/// Calls f(0), ..., f(R - 1).
template <int R, typename F> LSTMC_INLINE Group<R> group(F f) {
  if constexpr (R == 1)
    return f(0);
  else
    return Group<R>::make(f);
}
LSTMC_INLINE Vector member(const Vector &v, int) { return v; }
template <int R> LSTMC_INLINE Vector member(const Bundle<Vector, R> &bundle, int i) {
  return bundle.v[i];
}

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
