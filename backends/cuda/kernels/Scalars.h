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

/// Whether `op` on a V is computed in f64, by a function of executor/base/functions.
template <typename V> constexpr bool isFunctionOf(ScalarOp op) {
  const bool own =
      op == ScalarOp::Exp || op == ScalarOp::Log || op == ScalarOp::Tanh || op == ScalarOp::Sigmoid;
  return std::is_same_v<V, Float>    ? real::isFunction(op) && !own
         : std::is_same_v<V, Double> ? real::isFunction(op)
                                     : real::isFunction(op) && op != ScalarOp::Mod;
}

/// An operation on f32 and f64 whose result has their type.
template <ScalarOp op, typename V> LSTMC_DEVICE V floatOperation(V a, V b, V c) {
  if constexpr (isFunctionOf<V>(op))
    return {converted<typename V::Stored>(
        real::evaluate<op>(converted<double>(flushed(a).v), converted<double>(flushed(b).v)))};
  else if constexpr (op == ScalarOp::Add)
    return a + b;
  else if constexpr (op == ScalarOp::Sub)
    return a - b;
  else if constexpr (op == ScalarOp::Mul)
    return a * b;
  else if constexpr (op == ScalarOp::Div)
    return a / b;
  else if constexpr (op == ScalarOp::Fma)
    return multiplyAdd(a, b, c);
  else if constexpr (op == ScalarOp::Max)
    return larger(a, b);
  else if constexpr (op == ScalarOp::Min)
    return smaller(a, b);
  else if constexpr (op == ScalarOp::Neg)
    return -a;
  else if constexpr (op == ScalarOp::Abs)
    return abs(a);
  else if constexpr (op == ScalarOp::Sign)
    return V{0} < a ? V{1} : a < V{0} ? V{-1} : isNan(a) ? a : V{0};
  else if constexpr (op == ScalarOp::Floor)
    return roundedDown(a);
  else if constexpr (op == ScalarOp::Ceil)
    return -roundedDown(-a);
  else if constexpr (op == ScalarOp::Trunc)
    return a < V{0} ? -roundedDown(-a) : roundedDown(a);
  else if constexpr (op == ScalarOp::Round)
    return roundedAway(a);
  else if constexpr (op == ScalarOp::Rint)
    return roundedHalvesDown(a);
  else if constexpr (op == ScalarOp::Sqrt)
    return root(a);
  else if constexpr (op == ScalarOp::Exp)
    return exponential(a);
  else if constexpr (op == ScalarOp::Log)
    return logarithm(a);
  else if constexpr (op == ScalarOp::Tanh)
    return hyperbolicTangent(a);
  else if constexpr (op == ScalarOp::Sigmoid)
    return sigmoid(a);
  else
    return a; // of no such operation
}

/// An operation on i32 and i64; sums and products wrap.
template <ScalarOp op, typename T> LSTMC_DEVICE T integerOperation(T a, T b, T c) {
  using U = std::make_unsigned_t<T>;
  if constexpr (isFunctionOf<T>(op)) // in f64, and back
    return convert<T>(real::evaluate<op>(double(a), double(b)));
  else if constexpr (op == ScalarOp::Add)
    return T(U(a) + U(b));
  else if constexpr (op == ScalarOp::Sub)
    return T(U(a) - U(b));
  else if constexpr (op == ScalarOp::Mul)
    return T(U(a) * U(b));
  else if constexpr (op == ScalarOp::Fma)
    return T(U(a) * U(b) + U(c));
  else if constexpr (op == ScalarOp::Div)
    return b == 0 ? T(0) : b == -1 ? T(U(0) - U(a)) : T(a / b);
  else if constexpr (op == ScalarOp::Mod) {
    const T r = b == 0 || b == -1 ? T(0) : T(a % b);
    return r != 0 && (r < 0) != (b < 0) ? T(r + b) : r;
  } else if constexpr (op == ScalarOp::Max)
    return a > b ? a : b;
  else if constexpr (op == ScalarOp::Min)
    return a < b ? a : b;
  else if constexpr (op == ScalarOp::Neg)
    return T(U(0) - U(a));
  else if constexpr (op == ScalarOp::Abs)
    return a < 0 ? T(U(0) - U(a)) : a;
  else if constexpr (op == ScalarOp::Sign)
    return T((a > 0) - (a < 0));
  else if constexpr (op == ScalarOp::Sqrt)
    return convert<T>(root(Double{double(a)}).v);
  else
    return a; // it is whole
}

/// The operation `op`, which is known when the kernel runs.
template <typename V> LSTMC_DEVICE V floatOperation(ScalarOp op, V a, V b, V c) {
  switch (op) {
#define LSTMC_SCALAR(ID, NAME, OPERANDS, RESULT, MEANING)                                          \
  case ScalarOp::ID:                                                                               \
    if constexpr (isFunctionOf<V>(ScalarOp::ID))                                                   \
      break;                                                                                       \
    else                                                                                           \
      return floatOperation<ScalarOp::ID>(a, b, c);
#include "executor/abi/ScalarOps.def"
  }
  return {converted<typename V::Stored>(
      real::evaluate(op, converted<double>(flushed(a).v), converted<double>(flushed(b).v)))};
}
template <typename T> LSTMC_DEVICE T integerOperation(ScalarOp op, T a, T b, T c) {
  switch (op) {
#define LSTMC_SCALAR(ID, NAME, OPERANDS, RESULT, MEANING)                                          \
  case ScalarOp::ID:                                                                               \
    if constexpr (isFunctionOf<T>(ScalarOp::ID))                                                   \
      break;                                                                                       \
    else                                                                                           \
      return integerOperation<ScalarOp::ID>(a, b, c);
#include "executor/abi/ScalarOps.def"
  }
  return convert<T>(real::evaluate(op, double(a), double(b)));
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
