// Which learning rates a network can be trained with.
#pragma once

#include <vector>

#include "executor/training/Trainable.h"

namespace lstmc::training {

struct RateSearch {
  double lowest = 1e-7, highest = 10;
  int64_t updates = 100; ///< at least 2; the rate grows by the same factor in each
};

/// An update at a rate. `loss` is that of its batch, before the update; `smooth` the mean of those
/// so far, the newer ones counting more.
struct RateTrial {
  double rate = 0, loss = 0, smooth = 0;
};

struct RateFindings {
  std::vector<RateTrial> trials;
  bool diverged = false; ///< the loss went beyond four times its least, or was not finite
  /// The rate at which the smooth loss fell fastest per factor of the rate; nothing if it never
  /// fell.
  std::optional<double> rate;
};

/// Trains `model` with rates that grow, until the loss diverges. Its parameters are not what they
/// were afterwards. Errors of the data and of the step, but for E0701, which ends the search.
///
/// Source: L. N. Smith, Cyclical Learning Rates for Training Neural Networks (2017), 3.3.
Result<RateFindings> findRate(Trainable &model, const data::DataSet &data, uint64_t seed,
                              const RateSearch &search);

} // namespace lstmc::training
