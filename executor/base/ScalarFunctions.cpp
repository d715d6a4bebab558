#include "executor/base/ScalarFunctions.h"

#include "executor/base/functions/Functions.h"

namespace lstmc {

[[gnu::target("fma")]] static double withFma(ScalarOp op, double a, double b) {
  return real::evaluate(op, a, b);
}
static double withoutFma(ScalarOp op, double a, double b) { return real::evaluate(op, a, b); }

double functionInF64(ScalarOp op, double a, double b) {
  static const bool hasFma = __builtin_cpu_supports("fma");
  return hasFma ? withFma(op, a, b) : withoutFma(op, a, b);
}

} // namespace lstmc
