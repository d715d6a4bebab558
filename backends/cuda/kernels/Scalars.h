// The scalar operations of fused programs on the GPU. executor/base/ScalarSemantics.h defines what
// they mean; conformance compares every operation and type with it.
#pragma once

#include "backends/cuda/kernels/Elements.h"
#include "executor/base/functions/Functions.h"

namespace lstmc::gpu {

LSTMC_DEVICE Float roundedDown(Float a) { return {roundDown(flushed(a).v)}; }
LSTMC_DEVICE Double roundedDown(Double a) { return {roundDown(flushed(a).v)}; }

/// Of zeros and NaNs too.
LSTMC_DEVICE bool isNegative(Float a) { return std::bit_cast<uint32_t>(a.v) >> 31; }
LSTMC_DEVICE bool isNegative(Double a) { return std::bit_cast<uint64_t>(a.v) >> 63; }

/// Nearest integer; halves away from 0.
template <typename V> LSTMC_DEVICE V roundedAway(V a) {
  const V magnitude = abs(a), whole = roundedDown(magnitude);
  const V result = magnitude - whole < V{typename V::Stored(0.5)} ? whole : whole + V{1};
  return isNan(a) ? a : isNegative(a) ? -result : result;
}

/// Nearest integer; halves down.
template <typename V> LSTMC_DEVICE V roundedHalvesDown(V a) {
  const V down = roundedDown(a), up = -roundedDown(-a);
  const V below = a - down, above = up - a;
  return below < above || below == above ? down : up;
}

/// Operations on f32 and f64 whose result has their type.
template <typename V> LSTMC_DEVICE V floatOperation(ScalarOp op, V a, V b, V c) {
  switch (op) {
  case ScalarOp::Add:
    return a + b;
  case ScalarOp::Sub:
    return a - b;
  case ScalarOp::Mul:
    return a * b;
  case ScalarOp::Div:
    return a / b;
  case ScalarOp::Fma:
    return multiplyAdd(a, b, c);
  case ScalarOp::Max:
    return larger(a, b);
  case ScalarOp::Min:
    return smaller(a, b);
  case ScalarOp::Neg:
    return -a;
  case ScalarOp::Abs:
    return abs(a);
  case ScalarOp::Sign:
    return V{0} < a ? V{1} : a < V{0} ? V{-1} : isNan(a) ? a : V{0};
  case ScalarOp::Floor:
    return roundedDown(a);
  case ScalarOp::Ceil:
    return -roundedDown(-a);
  case ScalarOp::Trunc:
    return a < V{0} ? -roundedDown(-a) : roundedDown(a);
  case ScalarOp::Round:
    return roundedAway(a);
  case ScalarOp::Rint:
    return roundedHalvesDown(a);
  case ScalarOp::Sqrt:
    return root(a);
  default:
    break;
  }
  if constexpr (std::is_same_v<V, Float>)
    switch (op) {
    case ScalarOp::Exp:
      return exponential(a);
    case ScalarOp::Log:
      return logarithm(a);
    case ScalarOp::Tanh:
      return hyperbolicTangent(a);
    case ScalarOp::Sigmoid:
      return sigmoid(a);
    default:
      break;
    }
  return {converted<typename V::Stored>(
      real::evaluate(op, converted<double>(flushed(a).v), converted<double>(flushed(b).v)))};
}

/// Operations on i32 and i64; sums and products wrap.
template <typename T> LSTMC_DEVICE T integerOperation(ScalarOp op, T a, T b, T c) {
  using U = std::make_unsigned_t<T>;
  switch (op) {
  case ScalarOp::Add:
    return T(U(a) + U(b));
  case ScalarOp::Sub:
    return T(U(a) - U(b));
  case ScalarOp::Mul:
    return T(U(a) * U(b));
  case ScalarOp::Fma:
    return T(U(a) * U(b) + U(c));
  case ScalarOp::Div:
    return b == 0 ? T(0) : b == -1 ? T(U(0) - U(a)) : T(a / b);
  case ScalarOp::Mod: {
    const T r = b == 0 || b == -1 ? T(0) : T(a % b);
    return r != 0 && (r < 0) != (b < 0) ? T(r + b) : r;
  }
  case ScalarOp::Max:
    return a > b ? a : b;
  case ScalarOp::Min:
    return a < b ? a : b;
  case ScalarOp::Neg:
    return T(U(0) - U(a));
  case ScalarOp::Abs:
    return a < 0 ? T(U(0) - U(a)) : a;
  case ScalarOp::Sign:
    return T((a > 0) - (a < 0));
  case ScalarOp::Sqrt:
    return convert<T>(root(Double{double(a)}).v);
  case ScalarOp::Floor:
  case ScalarOp::Ceil:
  case ScalarOp::Trunc:
  case ScalarOp::Round:
  case ScalarOp::Rint:
    return a;
  default: // in f64, and back
    return convert<T>(real::evaluate(op, double(a), double(b)));
  }
}

LSTMC_DEVICE bool logicalOperation(ScalarOp op, bool a, bool b) {
  return op == ScalarOp::And   ? a && b
         : op == ScalarOp::Or  ? a || b
         : op == ScalarOp::Xor ? a != b
                               : !a;
}

/// a op b, for how a compares with b; nothing holds of a NaN.
LSTMC_DEVICE bool comparison(ScalarOp op, bool less, bool equal, bool greater) {
  switch (op) {
  case ScalarOp::Equal:
    return equal;
  case ScalarOp::NotEqual:
    return !equal;
  case ScalarOp::Less:
    return less;
  case ScalarOp::LessEqual:
    return less || equal;
  case ScalarOp::Greater:
    return greater;
  default:
    return greater || equal;
  }
}

} // namespace lstmc::gpu
