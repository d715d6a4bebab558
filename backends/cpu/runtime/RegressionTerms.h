// The terms that one output adds to the metrics of a regression. Compiled once.
#pragma once

#include "executor/abi/Kernels.h"

namespace lstmc::cpu {

/// The terms of one output in y of regression_metric (Kernels.def).
void regressionTerms(float x, double truth, RegressionLoss kind, double scale, double *out);

} // namespace lstmc::cpu
