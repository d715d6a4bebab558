// Learning rates over updates.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/base/Status.h"

namespace lstmc::training {

/// MXNet's schedulers. n counts updates from 1, w is warmup_steps.
///
///   factor       rate *= factor whenever n passes a multiple of `step`, never below stop_factor_lr
///   multifactor  rate *= factor whenever n passes an element of `steps`
///   poly         final + (base - final) * (1 - (n - w) / (max_update - w))^pwr
///   cosine       final + (base - final) * (1 + cos(pi * (n - w) / (max_update - w))) / 2
///   warm-up      while n < w: begin + (base - begin) * n / w, or begin if the mode is constant
///
/// Source: MXNet 1.9.1 python/mxnet/lr_scheduler.py; mxnet.md §8.4.
struct Schedule {
  enum class Kind { Constant, Factor, MultiFactor, Poly, Cosine };

  Kind kind = Kind::Constant;
  int64_t step = 1;
  std::vector<int64_t> steps; ///< ascending
  double factor = 1;
  double stopFactorRate = 1e-8;
  int64_t maxUpdate = 0;
  double power = 2;
  double finalRate = 0;
  int64_t warmupSteps = 0;
  double warmupBeginRate = 0;
  bool warmupLinear = true;

  /// From a name and MXNet's arguments as text: "factor" or "FactorScheduler", {"step", "1000"},
  /// ... `step` of multifactor is a list, "[100, 200]". E0001 for what is unknown or out of range.
  static Result<Schedule> make(std::string_view name,
                               const std::vector<std::pair<std::string, std::string>> &arguments);
  /// "cosine(max_update=2500, warmup_steps=100)", or a name alone.
  static Result<Schedule> parse(std::string_view text);

  /// The rate of update n, from 1. A function of its arguments alone, in f64; poly's and cosine's
  /// functions are libm's, on the host.
  double rate(double base, int64_t n) const;
};

} // namespace lstmc::training
