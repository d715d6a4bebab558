#include "executor/training/AreaUnderCurve.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace lstmc::training {

double AreaUnderCurve::area() {
  auto &[negatives, positives] = scores_;
  auto isNan = [](double score) { return std::isnan(score); };
  if (negatives.empty() || positives.empty() || std::ranges::any_of(negatives, isNan) ||
      std::ranges::any_of(positives, isNan))
    return std::numeric_limits<double>::quiet_NaN();
  std::ranges::sort(negatives);
  std::ranges::sort(positives);
  // Positives ascending, so that the negatives below one and those up to it only grow.
  uint64_t halves = 0;
  size_t below = 0, upTo = 0;
  for (double score : positives) {
    while (below < negatives.size() && negatives[below] < score)
      ++below;
    for (upTo = std::max(upTo, below); upTo < negatives.size() && negatives[upTo] == score;)
      ++upTo;
    halves += below + upTo; // two for one below, one for one that is equal
  }
  return double(halves) / (2 * double(negatives.size()) * double(positives.size()));
}

} // namespace lstmc::training
