// A way to carry a net out that must not change a bit.
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
  bool place = false;     ///< groups on devices in turn, instead of stages

  std::string text() const;
  /// `groups` and `layers` are those of the net.
  passes::CompileOptions applyTo(passes::CompileOptions options,
                                 const std::vector<std::string> &groups,
                                 const std::vector<std::string> &layers) const;
};

/// The way with the fewest properties of its own in which it still `fails`.
Way simplest(Way way, const std::function<bool(const Way &)> &fails);

/// Ways in which every two values of two properties meet that meet in any; in a fixed order.
const std::vector<Way> &coveringWays();

} // namespace lstmc::nets
