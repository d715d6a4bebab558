// Which numbers are valid in an input whose values are positions in something else.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include <fmt/format.h>

namespace lstmc {

/// The whole numbers from low to high, and optionally one more that means "no position". Fractions
/// count as the number to which they are truncated, because that is how kernels use them.
struct ValueRange {
  int64_t low = 0;
  int64_t high = 0;
  std::optional<int64_t> ignored;

  /// False for NaN.
  bool holds(double value) const {
    double whole = std::trunc(value);
    return (whole >= double(low) && whole <= double(high)) ||
           (ignored && whole == double(*ignored));
  }
  /// "0 to 64", "0 to 64, or -1"
  std::string text() const {
    return fmt::format("{} to {}{}", low, high, ignored ? fmt::format(", or {}", *ignored) : "");
  }
  bool operator==(const ValueRange &) const = default;
};

} // namespace lstmc
