#include "tests/executor/base/ElementaryLevels.h"

#include "backends/cpu/runtime/Vector.h"
#include "executor/base/ElementaryFunctions.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

void evaluate(Elementary function, const float *x, float *y, size_t count) {
  for (size_t i = 0; i < count; i += kWidth) {
    Vector v = Vector::load(x + i);
    switch (function) {
    case Elementary::Exp:
      v = exponential(v);
      break;
    case Elementary::Tanh:
      v = hyperbolicTangent(v);
      break;
    case Elementary::Sigmoid:
      v = sigmoid(v);
      break;
    case Elementary::Log:
      v = logarithm(v);
      break;
    }
    v.store(y + i);
  }
}

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
