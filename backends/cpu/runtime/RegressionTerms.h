// What one output adds to the metrics of a regression. Compiled once.
#pragma once

namespace lstmc::cpu {

/// {loss, 1, absolute difference, squared difference} as Kernels.def says of regression_metric.
void regressionTerms(float x, double truth, bool logistic, double *out);

} // namespace lstmc::cpu
