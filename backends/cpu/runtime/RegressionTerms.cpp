#include "backends/cpu/runtime/RegressionTerms.h"

#include "executor/base/ScalarSemantics.h"

namespace lstmc::cpu {

void regressionTerms(float x, double truth, bool logistic, double *out) {
  double output = logistic ? lstmc::scalar::sigmoid(x) : x;
  double difference = output - truth, square = difference * difference;
  out[0] = logistic ? lstmc::scalar::softRelu(double(x)) - double(x) * truth : 0.5 * square;
  out[1] = 1;
  out[2] = std::fabs(difference);
  out[3] = square;
}

} // namespace lstmc::cpu
