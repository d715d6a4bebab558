// What the kinds of devices are, for those who treat kinds alike.
#pragma once

#include <string_view>

#include "executor/device/DeviceNames.h"

namespace lstmc {

struct KindFacts {
  std::string_view name; ///< as `-d` has it: "gpu"
  /// One of the machine's cards, with memory of its own: it may be several devices, its parts, and
  /// ranks of a host share the cards out.
  bool isCard = false;
  bool isEmulated = false; ///< times are those of the emulation
};

const KindFacts &factsOf(DeviceKind kind);

} // namespace lstmc
