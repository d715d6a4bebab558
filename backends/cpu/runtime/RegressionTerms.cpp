#include "backends/cpu/runtime/RegressionTerms.h"

#include "executor/base/ScalarSemantics.h"

namespace lstmc::cpu {

static double lossOf(RegressionLoss kind, float x, double truth, double difference) {
  switch (kind) {
  case RegressionLoss::Logistic:
    return lstmc::scalar::softRelu(double(x)) - double(x) * truth;
  case RegressionLoss::Absolute:
    return std::fabs(difference);
  case RegressionLoss::HalfSquare:
    break;
  }
  return 0.5 * (difference * difference);
}

void regressionTerms(float x, double truth, RegressionLoss kind, double scale, double *out) {
  double output = kind == RegressionLoss::Logistic ? lstmc::scalar::sigmoid(x) : x;
  double difference = output - truth;
  out[0] = scale * lossOf(kind, x, truth, difference);
  out[1] = out[2] = 1;
  out[3] = std::fabs(difference);
  out[4] = difference * difference;
  out[5] = 0;
}

} // namespace lstmc::cpu
