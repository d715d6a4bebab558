// What `fit(..)` and its flags say about the loop; the step itself was compiled with the rest.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/base/Status.h"
#include "executor/training/Amount.h"
#include "executor/training/Schedule.h"
#include "executor/training/UpdateScalars.h"

namespace lstmc {
struct OptimizerKey;
}

namespace lstmc::training {

struct FitSettings {
  std::string optimizer = "sgd";
  std::optional<double> learningRate; ///< unset: MXNet's default of the optimizer
  OptimizerValues keys;               ///< that were given, of whatever optimizer has them
  Schedule schedule;
  std::optional<Amount> after; ///< of num_epoch or num_update
  std::optional<uint64_t> seed;
  std::string metric; ///< eval_metric

  /// Takes one key of fit(..) as text. True: the loop reads it; false: only the compiler does
  /// (wd, clip_gradient, carry, ...). E0001 for a value that cannot be.
  Result<bool> set(std::string_view key, std::string_view value);

  double baseRate() const;
  const Optimizer &row() const; ///< abi/Optimizers.h
};

/// A value of an optimizer's key: a number, a bool (True, False, yes, no), or None for the default.
/// E0001 with the range, for what is none of these or lies outside it.
Result<double> parseOptimizerKey(const OptimizerKey &key, std::string_view text);

/// The names of all rows of Optimizers.def.
std::vector<std::string_view> optimizerNames();

} // namespace lstmc::training
