// Learning rates over updates.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/base/Status.h"

namespace lstmc {
enum class ScheduleKind : uint8_t; // abi/Schedules.h; a row of the table rebuilds what names a kind
}

namespace lstmc::training {

/// A row of abi/Schedules.def with the values of its arguments.
struct Schedule {
  ScheduleKind kind{}; ///< constant
  std::map<std::string, double, std::less<>>
      given;                  ///< numbers and counts; the others have defaults
  std::vector<int64_t> steps; ///< of multifactor, ascending
  bool warmupLinear = true;

  /// From a name and arguments as text: "factor" or "FactorScheduler", {"step", "1000"}, ... `step`
  /// of multifactor is a list, "[100, 200]". E0001 for what is unknown, missing or out of range.
  static Result<Schedule> make(std::string_view name,
                               const std::vector<std::pair<std::string, std::string>> &arguments);
  /// "cosine(max_update=2500, warmup_steps=100)", or a name alone.
  static Result<Schedule> parse(std::string_view text);

  /// What was given, else the table's default.
  double value(std::string_view argument) const;

  /// The rate of update n, from 1; `plateau` is the factor that validations have come to. A
  /// function of its arguments alone, in f64; powers and cosines are libm's, on the host.
  double rate(double base, int64_t n, double plateau = 1) const;
};

/// What a plateau has seen. Saved in checkpoints: it follows from losses, not from the update
/// alone.
struct PlateauState {
  double scale = 1; ///< product of the factors so far
  std::optional<double> best;
  int64_t worse = 0;    ///< validations in a row that were no better
  int64_t cooldown = 0; ///< validations that do not count yet

  /// Takes in the loss of a validation; a loss that is no number is no better.
  void see(const Schedule &schedule, double loss);
};

} // namespace lstmc::training
