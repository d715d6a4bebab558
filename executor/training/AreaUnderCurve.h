// The area under the ROC curve, of scores collected label by label.
#pragma once

#include <array>
#include <vector>

namespace lstmc::training {

/// Keeps 8 bytes a label (twice that while they grow). The area does not depend on the order in
/// which labels were added.
class AreaUnderCurve {
public:
  void add(double score, bool positive) { scores_[positive].push_back(score); }

  /// The share of pairs of a positive and a negative label of which the positive has the larger
  /// score, a pair of equal scores counting one half: Mann and Whitney's U over the number of
  /// pairs. Exact but for one division, up to 4 * 10^9 labels. NaN where labels are all positive or
  /// all negative, and where a score is NaN. Sorts what was collected: O(n log n).
  double area();

private:
  std::array<std::vector<double>, 2> scores_; ///< of negatives, of positives
};

} // namespace lstmc::training
