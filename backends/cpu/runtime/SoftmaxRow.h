// What softmax, its logarithm and the losses compute for a row of f32. Compiled once per level.
#pragma once

#include "backends/cpu/runtime/Lanes.h"
#include "executor/base/ElementaryFunctions.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

/// (x - largest) / temperature.
struct Scaled {
  Row x;
  float top;
  float temperature;

  LSTMC_INLINE Scaled(const Row &row, int64_t count, float temperature)
      : x(row), top(maximumInLanes(row, count)), temperature(temperature) {}
  LSTMC_INLINE Vector operator()(int64_t e, int64_t end) const {
    Vector d = x.load(e, end) - Vector::broadcast(top);
    return temperature == 1.0f ? d : d / Vector::broadcast(temperature); // division by 1 is exact
  }
};

struct RowLoss {
  float loss;    ///< -log softmax(x)[label], with the label clipped to the valid range
  float largest; ///< of x
  float logSum;  ///< of exp(x - largest)
};

inline RowLoss rowLoss(const Row &x, int64_t classes, int64_t label) {
  Scaled scaled(x, classes, 1.0f);
  float sum = sumInLanes(
      classes, [&](int64_t e, Vector lane) { return lane + exponential(scaled(e, classes)); });
  label = label < 0 ? 0 : label >= classes ? classes - 1 : label;
  float logSum = firstLane(logarithm(Vector::broadcast(sum)));
  return {-((x[label] - scaled.top) - logSum), scaled.top, logSum};
}

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
