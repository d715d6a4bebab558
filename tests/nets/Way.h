// A way to run a net that must not change a bit.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/e2e/Variants.h"

namespace lstmc::nets {

struct Way {
  e2e::Variant variant;
  cpu::Level level = cpu::machineLevel();
  bool recompute = false; ///< every group and layer
  bool segments = false;  ///< steps in three segments, in nets where that can be
  bool place = false;     ///< groups on devices in turn, instead of stages

  std::string text() const;
  /// `groups` and `layers`: names in the net.
  passes::CompileOptions applyTo(passes::CompileOptions options,
                                 const std::vector<std::string> &groups,
                                 const std::vector<std::string> &layers) const;
};

/// The way with the fewest changes from the default in which the net still `fails`.
Way simplest(Way way, const std::function<bool(const Way &)> &fails);

/// Ways in a fixed order that cover every possible pair of values of two properties.
const std::vector<Way> &coveringWays();

} // namespace lstmc::nets
