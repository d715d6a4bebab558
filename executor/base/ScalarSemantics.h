// The meaning of every scalar operation of executor/abi/ScalarOps.def. The reference and constant
// folding use it; so does the tile evaluator, for operations that it does not vectorise. The caller
// sets the floating-point mode (base/FloatMode.h).
//
// On integers, operations that have a meaning only for reals (exp, sin, pow, ...) are computed in
// f64 and converted back by `cast`, so no operands are undefined behaviour. All NaNs count as one
// value; nothing is promised about their signs and payloads.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>

#include "executor/abi/ScalarOps.h"
#include "executor/base/ElementaryFunctions.h"
#include "executor/base/Numeric.h"
#include "executor/base/Philox.h"
#include "executor/base/ScalarFloat.h"
#include "executor/base/ScalarFunctions.h"

namespace lstmc {

namespace scalar {

// The four functions that have an f32 form: f32 by base/ElementaryFunctions.h, f64 by
// base/functions.
inline float exponential(float x) { return lstmc::exponential(ScalarFloat<>{x}).v; }
inline double exponential(double x) { return functionInF64(ScalarOp::Exp, x); }
inline float logarithm(float x) { return lstmc::logarithm(ScalarFloat<>{x}).v; }
inline double logarithm(double x) { return functionInF64(ScalarOp::Log, x); }
inline float hyperbolicTangent(float x) { return lstmc::hyperbolicTangent(ScalarFloat<>{x}).v; }
inline double hyperbolicTangent(double x) { return functionInF64(ScalarOp::Tanh, x); }
inline float sigmoid(float x) { return lstmc::sigmoid(ScalarFloat<>{x}).v; }
inline double sigmoid(double x) { return functionInF64(ScalarOp::Sigmoid, x); }

/// Replaces a denormal by a zero of its sign. Needed where no arithmetic flushes it: the result
/// must not depend on whether the compiler uses a comparison or the maximum instruction, which
/// flushes.
template <typename T> inline T flushed(T x) {
  if constexpr (std::floating_point<T>)
    return std::fabs(x) < std::numeric_limits<T>::min() ? std::copysign(T(0), x) : x;
  else
    return x;
}

/// a if a > b or a is NaN, else b; so the result is NaN if either operand is.
template <typename T> inline T maximum(T a, T b) { return flushed(a > b || a != a ? a : b); }
template <typename T> inline T minimum(T a, T b) { return flushed(a < b || a != a ? a : b); }

/// Nearest integer; halves round down.
inline double rintHalvesDown(double x) {
  double floor = std::floor(x), ceil = std::ceil(x);
  return x - floor <= ceil - x ? floor : ceil;
}

/// Operations of f32 and f64 only.
template <std::floating_point T> inline T evaluateFloat(ScalarOp op, T a, T b, T c) {
  switch (op) {
  case ScalarOp::Div:
    return a / b;
  case ScalarOp::Fma:
    return std::fma(a, b, c);
  case ScalarOp::Neg:
    return -a;
  case ScalarOp::Abs:
    return std::fabs(a);
  case ScalarOp::Sign:
    return a > 0 ? T(1) : a < 0 ? T(-1) : a == a ? T(0) : a;
  case ScalarOp::Floor:
    return std::floor(a);
  case ScalarOp::Ceil:
    return std::ceil(a);
  case ScalarOp::Trunc:
    return std::trunc(a);
  case ScalarOp::Round:
    return std::round(a);
  case ScalarOp::Rint:
    return T(rintHalvesDown(a));
  case ScalarOp::Sqrt:
    return std::sqrt(a);
  case ScalarOp::Exp:
    return exponential(a);
  case ScalarOp::Log:
    return logarithm(a);
  case ScalarOp::Tanh:
    return hyperbolicTangent(a);
  case ScalarOp::Sigmoid:
    return sigmoid(a);
  default:
    return T(functionInF64(op, a, b)); // f32 is rounded once more
  }
}

/// As above for i32 and i64; sums and products wrap.
template <std::signed_integral T> inline T evaluateInteger(ScalarOp op, T a, T b, T c) {
  using U = std::make_unsigned_t<T>;
  switch (op) {
  case ScalarOp::Div:
    return b == 0 ? T(0) : b == -1 ? T(U(0) - U(a)) : T(a / b);
  case ScalarOp::Mod: {
    T r = b == 0 || b == -1 ? T(0) : T(a % b);
    return r != 0 && (r < 0) != (b < 0) ? T(r + b) : r;
  }
  case ScalarOp::Fma:
    return T(U(a) * U(b) + U(c));
  case ScalarOp::Neg:
    return T(U(0) - U(a));
  case ScalarOp::Abs:
    return a < 0 ? T(U(0) - U(a)) : a;
  case ScalarOp::Sign:
    return T((a > 0) - (a < 0));
  case ScalarOp::Floor:
  case ScalarOp::Ceil:
  case ScalarOp::Trunc:
  case ScalarOp::Round:
  case ScalarOp::Rint:
    return a;
  default:
    return convert<T>(evaluateFloat<double>(op, double(a), double(b), double(c)));
  }
}

} // namespace scalar

/// An operation whose result has the type of its operands (ScalarResult::Same), Select excepted.
template <typename T> inline T evaluate(ScalarOp op, T a, T b = T(), T c = T()) {
  if constexpr (std::is_same_v<T, bool>) {
    switch (op) {
    case ScalarOp::And:
      return a && b;
    case ScalarOp::Or:
      return a || b;
    case ScalarOp::Xor:
      return a != b;
    case ScalarOp::Not:
      return !a;
    default: // as on i32: the loader refuses it, but the result must be defined
      return convert<bool>(evaluate<int32_t>(op, a, b, c));
    }
  } else {
    switch (op) {
    case ScalarOp::Add:
    case ScalarOp::Sub:
    case ScalarOp::Mul:
      if constexpr (std::integral<T>) {
        using U = std::make_unsigned_t<T>;
        return op == ScalarOp::Add   ? T(U(a) + U(b))
               : op == ScalarOp::Sub ? T(U(a) - U(b))
                                     : T(U(a) * U(b));
      } else {
        return op == ScalarOp::Add ? a + b : op == ScalarOp::Sub ? a - b : a * b;
      }
    case ScalarOp::Max:
      return scalar::maximum(a, b);
    case ScalarOp::Min:
      return scalar::minimum(a, b);
    case ScalarOp::And:
    case ScalarOp::Or:
    case ScalarOp::Xor:
    case ScalarOp::Not:
      return T(evaluate<bool>(op, a != T(0), b != T(0)));
    default:
      if constexpr (std::integral<T>)
        return scalar::evaluateInteger(op, a, b, c);
      else
        return scalar::evaluateFloat(op, a, b, c);
    }
  }
}

/// An operation whose result is a bool (ScalarResult::Bool).
template <typename T> inline bool compare(ScalarOp op, T a, T b) {
  switch (op) {
  case ScalarOp::Equal:
    return a == b;
  case ScalarOp::NotEqual:
    return a != b;
  case ScalarOp::Less:
    return a < b;
  case ScalarOp::LessEqual:
    return a <= b;
  case ScalarOp::Greater:
    return a > b;
  default:
    return a >= b;
  }
}

/// A value with its type: f32, f64, i32, i64 or bool.
struct ScalarValue {
  DType type = DType::F32;
  union {
    float f32 = 0;
    double f64;
    int32_t i32;
    int64_t i64;
    bool boolean;
  };

  template <typename T> static ScalarValue of(T value) {
    ScalarValue result;
    if constexpr (std::is_same_v<T, float>)
      result.type = DType::F32, result.f32 = value;
    else if constexpr (std::is_same_v<T, double>)
      result.type = DType::F64, result.f64 = value;
    else if constexpr (std::is_same_v<T, int32_t>)
      result.type = DType::I32, result.i32 = value;
    else if constexpr (std::is_same_v<T, int64_t>)
      result.type = DType::I64, result.i64 = value;
    else
      result.type = DType::Bool, result.boolean = value;
    return result;
  }
  /// The value, converted as by `cast`.
  template <typename T> T as() const {
    switch (type) {
    case DType::F64:
      return convert<T>(f64);
    case DType::I32:
      return convert<T>(i32);
    case DType::I64:
      return convert<T>(i64);
    case DType::Bool:
      return convert<T>(boolean);
    default:
      return convert<T>(f32);
    }
  }
};

/// One instruction, with any operation and result. `type` is the instruction's; `element` is the
/// row-major index in the program's common shape, which only uniform uses.
inline ScalarValue evaluate(ScalarOp op, DType type, ScalarValue a, ScalarValue b, ScalarValue c,
                            double immediate, uint64_t element) {
  return withWidenedType(type, [&](auto result) {
    using T = decltype(result);
    switch (op) {
    case ScalarOp::Constant:
      return ScalarValue::of(convert<T>(immediate));
    case ScalarOp::Cast:
      return ScalarValue::of(a.as<T>());
    case ScalarOp::Uniform:
      return ScalarValue::of(convert<T>(randomUniform(uint64_t(a.as<int64_t>()), element,
                                                      uint32_t(convert<int64_t>(immediate)),
                                                      uint32_t(b.as<int64_t>()))));
    case ScalarOp::Select:
      return ScalarValue::of(a.as<bool>() ? b.as<T>() : c.as<T>());
    default:
      break;
    }
    if (kScalarRecords[int(op)].result == ScalarResult::Bool)
      return ScalarValue::of(convert<T>(withWidenedType(a.type, [&](auto operand) {
        using Operand = decltype(operand);
        return compare(op, a.as<Operand>(), b.as<Operand>());
      })));
    return ScalarValue::of(evaluate<T>(op, a.as<T>(), b.as<T>(), c.as<T>()));
  });
}

} // namespace lstmc
