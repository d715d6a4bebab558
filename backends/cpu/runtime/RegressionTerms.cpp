#include "backends/cpu/runtime/RegressionTerms.h"

#include "executor/base/ScalarSemantics.h"

namespace lstmc::cpu {

static double lossOf(RegressionLoss kind, float x, double truth, double difference) {
  switch (kind) {
  case RegressionLoss::Logistic:
    return functionInF64(ScalarOp::SoftRelu, x) - double(x) * truth;
  case RegressionLoss::Absolute:
    return std::fabs(difference);
  case RegressionLoss::HalfSquare:
    break;
  }
  return 0.5 * (difference * difference);
}

void regressionTerms(float x, double truth, RegressionLoss kind, double scale, bool all,
                     double *out) {
  double output = kind == RegressionLoss::Logistic ? lstmc::scalar::sigmoid(x) : x;
  double difference = output - truth;
  out[0] = scale * lossOf(kind, x, truth, difference);
  out[1] = out[2] = 1;
  out[3] = std::fabs(difference);
  out[4] = difference * difference;
  out[5] = 0;
  if (!all)
    return;
  out[6] = double((output > 0.5) == (truth > 0.5));
  out[7] = output;
  out[8] = truth;
  out[9] = output * output;
  out[10] = truth * truth;
  out[11] = output * truth;
}

} // namespace lstmc::cpu
