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

/// SVG: training losses as a line, validation losses as a line with points; the axes are updates
/// and loss.
std::string lossChart(const Losses &losses);

} // namespace lstmc::viz
