// Amounts of training: 10e, 2500u, 1Gt, 90s.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "executor/base/Status.h"

namespace lstmc::training {

/// The progress of a run.
struct Progress {
  int64_t update = 0;
  double epoch = 0;   ///< whole ones and the part of the one that runs
  int64_t labels = 0; ///< counted ones
  double seconds = 0; ///< of this run and those it resumes
};

struct Amount {
  enum class Unit { Epochs, Updates, Labels, Seconds };
  /// Multiples of less are not told apart, and more than that no training reaches.
  static constexpr double kLeast = 1e-9, kMost = 1e18;
  /// What parse() takes.
  static constexpr std::string_view kForms =
      "an amount such as 10e (epochs), 2500u (updates), 1Gt (labels) or 90s, of 1e-9 to 1e18";

  double value = 0; ///< kLeast to kMost
  Unit unit = Unit::Epochs;

  /// Number, then `e`, `u`, `t` with K M G before it (10^3, 10^6, 10^9), or `ms s m h`. E0001
  /// naming `flag` otherwise, and for less than kLeast or more than kMost.
  static Result<Amount> parse(std::string_view text, std::string_view flag);
  std::string text() const;

  /// How much of it there was in `progress`: 1 when it has just been reached.
  double share(const Progress &progress) const;
  bool reached(const Progress &progress) const { return share(progress) >= 1; }
  /// Whether another multiple of it was passed between the two.
  bool passed(const Progress &before, const Progress &now) const;
};

} // namespace lstmc::training
