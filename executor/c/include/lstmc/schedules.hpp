// Learning-rate schedules.
//
// Made from executor/abi/Schedules.def by tests/executor/c/aggregates.cpp; a test compares them.
// clang-format off
#ifndef LSTMC_SCHEDULES_HPP
#define LSTMC_SCHEDULES_HPP

#include <lstmc/error.hpp>

#include <cstdint>
#include <vector>

namespace lstmc {
inline namespace LSTMC_ABI {

/// rate *= factor whenever n passes a multiple of step, never below stop_factor_lr.
struct Factor {
  /// of the first update; 0: the network's
  double rate = 0;
  double factor = 1;
  std::int64_t step = 1;
  double stop_factor_lr = 1e-08;
  double warmup_begin_lr = 0;
  /// or "constant"
  std::string_view warmup_mode = "linear";
  std::int64_t warmup_steps = 0;

  static constexpr std::string_view name = "factor";
  template <typename F> void each(F f) const {
    f("factor", factor);
    f("step", step);
    f("stop_factor_lr", stop_factor_lr);
    f("warmup_begin_lr", warmup_begin_lr);
    f("warmup_mode", warmup_mode);
    f("warmup_steps", warmup_steps);
  }
};

/// rate *= factor whenever n passes an element of step.
struct MultiFactor {
  /// of the first update; 0: the network's
  double rate = 0;
  double factor = 1;
  std::vector<std::int64_t> step = {};
  double warmup_begin_lr = 0;
  /// or "constant"
  std::string_view warmup_mode = "linear";
  std::int64_t warmup_steps = 0;

  static constexpr std::string_view name = "multifactor";
  template <typename F> void each(F f) const {
    f("factor", factor);
    f("step", step);
    f("warmup_begin_lr", warmup_begin_lr);
    f("warmup_mode", warmup_mode);
    f("warmup_steps", warmup_steps);
  }
};

/// final_lr + (base - final_lr) * (1 - (n - w) / (max_update - w))^pwr.
struct Poly {
  /// of the first update; 0: the network's
  double rate = 0;
  double final_lr = 0;
  std::int64_t max_update = 0;
  double pwr = 2;
  double warmup_begin_lr = 0;
  /// or "constant"
  std::string_view warmup_mode = "linear";
  std::int64_t warmup_steps = 0;

  static constexpr std::string_view name = "poly";
  template <typename F> void each(F f) const {
    f("final_lr", final_lr);
    f("max_update", max_update);
    f("pwr", pwr);
    f("warmup_begin_lr", warmup_begin_lr);
    f("warmup_mode", warmup_mode);
    f("warmup_steps", warmup_steps);
  }
};

/// final_lr + (base - final_lr) * (1 + cos(pi * (n - w) / (max_update - w))) / 2.
struct Cosine {
  /// of the first update; 0: the network's
  double rate = 0;
  double final_lr = 0;
  std::int64_t max_update = 0;
  double warmup_begin_lr = 0;
  /// or "constant"
  std::string_view warmup_mode = "linear";
  std::int64_t warmup_steps = 0;

  static constexpr std::string_view name = "cosine";
  template <typename F> void each(F f) const {
    f("final_lr", final_lr);
    f("max_update", max_update);
    f("warmup_begin_lr", warmup_begin_lr);
    f("warmup_mode", warmup_mode);
    f("warmup_steps", warmup_steps);
  }
};

/// half a cosine from base / div_factor up to base, in pct_start of the updates from w to
/// max_update, then one down to base / div_factor / final_div_factor.
struct OneCycle {
  /// of the first update; 0: the network's
  double rate = 0;
  double div_factor = 25;
  double final_div_factor = 10000;
  std::int64_t max_update = 0;
  double pct_start = 0.3;
  double warmup_begin_lr = 0;
  /// or "constant"
  std::string_view warmup_mode = "linear";
  std::int64_t warmup_steps = 0;

  static constexpr std::string_view name = "onecycle";
  template <typename F> void each(F f) const {
    f("div_factor", div_factor);
    f("final_div_factor", final_div_factor);
    f("max_update", max_update);
    f("pct_start", pct_start);
    f("warmup_begin_lr", warmup_begin_lr);
    f("warmup_mode", warmup_mode);
    f("warmup_steps", warmup_steps);
  }
};

/// rate *= factor after more than patience validations in a row none of whose losses is below the
/// best * (1 - threshold); never below min_lr; cooldown validations after it do not count. What it
/// has seen is in the checkpoint.
struct Plateau {
  /// of the first update; 0: the network's
  double rate = 0;
  std::int64_t cooldown = 0;
  double factor = 0.1;
  double min_lr = 0;
  std::int64_t patience = 10;
  double threshold = 0.0001;
  double warmup_begin_lr = 0;
  /// or "constant"
  std::string_view warmup_mode = "linear";
  std::int64_t warmup_steps = 0;

  static constexpr std::string_view name = "plateau";
  template <typename F> void each(F f) const {
    f("cooldown", cooldown);
    f("factor", factor);
    f("min_lr", min_lr);
    f("patience", patience);
    f("threshold", threshold);
    f("warmup_begin_lr", warmup_begin_lr);
    f("warmup_mode", warmup_mode);
    f("warmup_steps", warmup_steps);
  }
};

} // namespace LSTMC_ABI
} // namespace lstmc

#endif
