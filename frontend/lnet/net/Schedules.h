// FactorScheduler(..) and its like: the learning rate over the updates
// (executor/abi/Schedules.def).
#pragma once

#include "frontend/lnet/evaluation/Builtins.h"

namespace lstmc {
struct ScheduleRow;
}

namespace lstmc::lnet {

class Schedules {
public:
  explicit Schedules(Run &run) : run_(run) {}
  static std::span<const BuiltinRow<Schedules>> functions();

private:
  template <size_t Row> Value ofRow(Arguments &arguments);
  Value schedule(Arguments &arguments, const ScheduleRow &row);

  Run &run_;
};

/// "FactorScheduler(..), CosineScheduler(..)": all of them, for messages.
std::string scheduleNames();

} // namespace lstmc::lnet
