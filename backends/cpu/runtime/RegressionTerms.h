// What one output adds to the metrics of a regression. Compiled once.
#pragma once

#include "executor/abi/Kernels.h"

namespace lstmc::cpu {

/// What one output adds to y of regression_metric in Kernels.def.
void regressionTerms(float x, double truth, RegressionLoss kind, double scale, double *out);

} // namespace lstmc::cpu
