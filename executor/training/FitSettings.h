// What `fit(..)` and its flags say about the loop; the step itself was compiled with the rest.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/base/Status.h"
#include "executor/package/PackageData.h"
#include "executor/training/Amount.h"
#include "executor/training/Schedule.h"

namespace lstmc {
struct Optimizer;
}

namespace lstmc::training {

struct FitSettings {
  std::string optimizer = "sgd";
  std::optional<double> learningRate; ///< unset: MXNet's default of the optimizer
  Schedule schedule;
  std::optional<Amount> after; ///< of num_epoch or num_update
  std::optional<uint64_t> seed;
  std::string metric; ///< eval_metric

  /// Takes one key of fit(..) as text. True: the loop reads it; false: only the compiler does
  /// (wd, clip_gradient, carry, ...). E0001 for a value that cannot be.
  Result<bool> set(std::string_view key, std::string_view value);

  /// All keys of a package that the loop reads; the others were compiled into the step.
  static Result<FitSettings> of(const std::vector<package::Setting> &settings);

  double baseRate() const;
  const Optimizer &row() const; ///< abi/Optimizers.h
};

} // namespace lstmc::training
