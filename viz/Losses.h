// The losses of a training run, and their curve.
#pragma once

#include <string>
#include <vector>

namespace lstmc::viz {

struct Loss {
  double update, loss;
};

struct Losses {
  std::vector<Loss> training, validation; ///< in the order of updates
  bool empty() const { return training.empty() && validation.empty(); }
};

/// SVG: training as a line, validations as a line with points; axes of updates and of loss.
std::string lossChart(const Losses &losses);

} // namespace lstmc::viz
