// The functions of scalar operations that no processor has, in f64, from +, -, *, /, fma, square
// roots and bits: every compiler and processor gives the same bits.
//
// Error bounds in ULP, which tests/executor/base/FunctionsTest.cpp holds against x87, denormals
// counted as 0:
//   0.51 hypot mod (whose remainder is exact)
//   0.55 exp expm1 sigmoid tanh sinh cosh log log2 log10 arcsinh arccosh arctanh
//   0.55 pow cbrt arcsin arccos arctan
//   0.8  log1p sin cos gammaln (below 0: of a result of 1/4, where it is smaller)
//   1    tan softrelu gamma erf digamma (of 1/4, where it is smaller; 4 below 0)
//   1.4  erfinv
#pragma once

#include "executor/abi/ScalarOps.h"
#include "executor/base/functions/ErrorFunction.h"
#include "executor/base/functions/Gamma.h"

namespace lstmc::real {

/// Whether `op` is one of these functions.
constexpr bool isFunction(ScalarOp op) {
  switch (op) {
#define LSTMC_FUNCTION(ID, VALUE) case ScalarOp::ID:
#include "executor/base/functions/Functions.def"
    return true;
  default:
    return false;
  }
}

/// The function `op` of a, or of a and b. Denormals count as 0, as arguments and as results; so the
/// result does not depend on the processor's mode. NaN for other operations.
LSTMC_PORTABLE double evaluate(ScalarOp op, double a, double b) {
  a = flushed(a);
  b = flushed(b);
  switch (op) {
#define LSTMC_FUNCTION(ID, VALUE)                                                                  \
  case ScalarOp::ID:                                                                               \
    return flushed(VALUE);
#include "executor/base/functions/Functions.def"
  default:
    return kNaN;
  }
}

/// The same for an operation that is known when this is compiled.
template <ScalarOp op> LSTMC_PORTABLE double evaluate(double a, double b) {
  a = flushed(a);
  b = flushed(b);
#define LSTMC_FUNCTION(ID, VALUE)                                                                  \
  if constexpr (op == ScalarOp::ID)                                                                \
    return flushed(VALUE);
#include "executor/base/functions/Functions.def"
  return kNaN;
}

} // namespace lstmc::real
