// What `fit(..)` and its flags say about the loop; the step itself was compiled with the rest.
#pragma once

#include <optional>
#include <string>

#include "executor/base/Status.h"
#include "executor/training/Amount.h"
#include "executor/training/Schedule.h"

namespace lstmc::training {

struct FitSettings {
  std::string optimizer = "sgd";
  std::optional<double> learningRate; ///< unset: MXNet's default of the optimizer
  double beta1 = 0.9, beta2 = 0.999;  ///< of adam
  Schedule schedule;
  std::optional<Amount> after; ///< of num_epoch or num_update
  std::optional<uint64_t> seed;
  std::string metric; ///< eval_metric

  /// Takes one key of fit(..) as text. True: it is one of the loop's; false: it is the compiler's
  /// (momentum, wd, clip_gradient, ...). E0001 for a value that cannot be.
  Result<bool> set(std::string_view key, std::string_view value);

  double baseRate() const;
};

/// The scalar `learning_rate` of update n (from 1): the schedule's value, and for adam times
/// sqrt(1 - beta2^n) / (1 - beta1^n), in f64 with powers by squaring. Source: mxnet.md §8.5.
double stepRate(const FitSettings &fit, int64_t n);

} // namespace lstmc::training
