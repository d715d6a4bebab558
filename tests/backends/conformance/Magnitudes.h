// Results of launches, and the magnitudes that bound what a rule of --fast may change of them.
#pragma once

#include <algorithm>
#include <cmath>

#include "backends/conformance/TestLaunch.h"
#include "executor/reference/Reference.h"

namespace lstmc::conformance {

/// Of a product or a gradient of weights.
inline const Array &resultArray(TestLaunch &launch) {
  return launch[launch.id == KernelId::Product ? "y" : "dw"];
}
inline std::vector<double> resultOf(TestLaunch launch) { return resultArray(launch).values(); }
inline std::vector<double> exactly(const TestLaunch &launch) {
  TestLaunch done = launch.clone();
  done.run(reference::kernel(done.id));
  return resultOf(done);
}
/// The sum of the magnitudes of what each result is the sum of.
inline std::vector<double> magnitudesOf(const TestLaunch &launch) {
  return exactly(launch.changed([](float number) { return std::fabs(number); }));
}

/// 0 of none.
inline double largest(const std::vector<double> &values) {
  double most = 0;
  for (double value : values)
    most = std::max(most, std::fabs(value));
  return most;
}
/// Of an operand that may be absent.
inline double largest(const Array &array) { return array.storage ? largest(array.values()) : 0; }
/// The largest sum of magnitudes over a row of a matrix, or over a column.
inline double largestRow(const Array &matrix, bool column = false) {
  const std::vector<double> values = matrix.values();
  const auto columns = size_t(matrix.tensor.shape[1]);
  std::vector<double> sums(column ? columns : values.size() / columns);
  for (size_t i = 0; i < values.size(); ++i)
    sums[column ? i % columns : i / columns] += std::fabs(values[i]);
  return largest(sums);
}

} // namespace lstmc::conformance
