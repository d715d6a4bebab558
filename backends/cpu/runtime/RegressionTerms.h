// The terms that one output adds to the metrics of a regression. Compiled once.
#pragma once

#include "executor/abi/Kernels.h"

namespace lstmc::cpu {

/// Number of fields of the longer record that regression_metric (Kernels.def) sets.
inline constexpr int kRegressionFields = 12;

/// The terms of one output in y of regression_metric (Kernels.def): kMetricFields numbers, or
/// kRegressionFields if `all` are wanted.
void regressionTerms(float x, double truth, RegressionLoss kind, double scale, bool all,
                     double *out);

} // namespace lstmc::cpu
