// In which way each recurrent layer of a package is carried out, on devices that have several.
#pragma once

#include <string>
#include <vector>

#include "backends/target/Way.h"
#include "executor/package/PackageData.h"
#include "passes/planning/forecast/Forecast.h"

namespace lstmc::planning {

/// Launches of one layer, device and direction that are carried out alike.
struct LayerWay {
  uint32_t device = 0;
  std::string layer; ///< "lstm0"; the op, where several layers have one place
  bool backward = false;
  target::Way way;
  int64_t steps = 0;  ///< of all launches
  double seconds = 0; ///< of all launches
  int64_t launches = 0;
};

/// Of one entry, in the order of its programs. Empty where no device has several ways.
std::vector<LayerWay> recurrenceWays(const package::PackageData &data, const package::Entry &entry,
                                     const target::Machines &machines, double realSteps = 1);

} // namespace lstmc::planning
