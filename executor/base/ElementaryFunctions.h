// exp, tanh, sigmoid and log. All vector types share this source, so every width gives the same
// bits.
//
// A vector type V comes from backends/cpu/runtime/Vector.h, one per level, or from
// base/ScalarFloat.h: f32 lanes with the operations listed there. Each of these operations is
// correctly rounded, so the order of operations written here decides the result.
//
// Largest errors over all floats, against f64, denormals counted as 0
// (tests/executor/base/ElementaryFunctions):
//   exponential 1.1 ULP · hyperbolicTangent 2.6 ULP · sigmoid 2.5 ULP · logarithm 0.9 ULP
// NaN gives NaN, the infinities give their limits, and exponential overflows to infinity.
// `constexpr` lets nvcc compile them for GPUs.
#pragma once

namespace lstmc {

namespace elementary {

// Polynomials are minimax fits (Remez) on the reduced range; the errors given are those of the fit.
inline constexpr float kLog2E = 0x1.715476p+0f;
// ln 2 in two parts. n * kLn2High is taken off by one fma, which is exact here: the difference has
// at most 24 bits.
inline constexpr float kLn2High = 0x1.62e43p-1f;
inline constexpr float kLn2Low = -0x1.05c61p-29f;

/// e^r - 1 for |r| <= ln(2)/2, relative error 1.5e-8.
template <typename V> constexpr V expm1Reduced(V r) {
  V p = V::broadcast(0x1.6d9786p-10f);
  p = fma(p, r, V::broadcast(0x1.122712p-7f));
  p = fma(p, r, V::broadcast(0x1.55548ap-5f));
  p = fma(p, r, V::broadcast(0x1.5554b2p-3f));
  p = fma(p, r, V::broadcast(0.5f));
  return fma(r * r, p, r);
}

/// x = n ln 2 + r with n a whole number; writes r, returns n.
template <typename V> constexpr V reduce(V x, V &r) {
  V n = roundEven(x * V::broadcast(kLog2E));
  r = fma(n, V::broadcast(-kLn2High), x);
  r = fma(n, V::broadcast(-kLn2Low), r);
  return n;
}

} // namespace elementary

/// e^x.
template <typename V> constexpr V exponential(V x) {
  // Beyond these bounds the result is infinity or 0 for every x. `min` and `max` give their second
  // operand if the first is NaN.
  x = min(V::broadcast(89.0f), max(V::broadcast(-104.0f), x));
  V r;
  V n = elementary::reduce(x, r);
  V p = elementary::expm1Reduced(r) + V::broadcast(1.0f);
  return scaleByPowerOf2(p, n);
}

/// 1 / (1 + e^-x).
template <typename V> constexpr V sigmoid(V x) {
  V one = V::broadcast(1.0f);
  return one / (one + exponential(-x));
}

/// tanh x, as t / (t + 2) with t = e^(2|x|) - 1. Nothing cancels, so small x need no special case.
template <typename V> constexpr V hyperbolicTangent(V x) {
  V magnitude = abs(x);
  V y = min(V::broadcast(20.0f), magnitude + magnitude); // from 18.1 on the quotient rounds to 1
  V r;
  V n = elementary::reduce(y, r);
  V q = elementary::expm1Reduced(r);
  V s = powerOf2(n);
  V t = fma(s, q, s - V::broadcast(1.0f));
  return copySign(t / (t + V::broadcast(2.0f)), x);
}

/// Natural logarithm: -infinity at 0 and for denormals, NaN below.
template <typename V> constexpr V logarithm(V x) {
  V one = V::broadcast(1.0f);
  V e;
  V f = splitExponent(x, e) - one; // x = 2^e (1 + f), 1 + f in [0.707, 1.414]
  V p = V::broadcast(-0.07876337f);
  p = fma(p, f, V::broadcast(0.12874195f));
  p = fma(p, f, V::broadcast(-0.13118692f));
  p = fma(p, f, V::broadcast(0.14181925f));
  p = fma(p, f, V::broadcast(-0.16625766f));
  p = fma(p, f, V::broadcast(0.2000227f));
  p = fma(p, f, V::broadcast(-0.2500077f));
  p = fma(p, f, V::broadcast(0.33333316f));
  V square = f * f;
  V low = fma(square * f, p, e * V::broadcast(elementary::kLn2Low));
  low = fma(square, V::broadcast(-0.5f), low);
  V result = fma(e, V::broadcast(elementary::kLn2High), f + low);
  V infinity = V::broadcast(__builtin_inff());
  result = select(x < V::broadcast(0x1p-126f), -infinity, result);
  result = select(x <= V::broadcast(-0x1p-126f), V::broadcast(__builtin_nanf("")), result);
  result = select(x == infinity, infinity, result);
  return select(x == x, result, x);
}

} // namespace lstmc
