// The kernel variant of each recurrent layer of a package, on devices with several variants.
#pragma once

#include <string>
#include <vector>

#include "backends/target/Way.h"
#include "executor/package/PackageData.h"
#include "passes/planning/forecast/Forecast.h"

namespace lstmc::planning {

/// The launches of one layer, device and direction that use the same variant.
struct LayerWay {
  uint32_t device = 0;
  std::string layer; ///< "lstm0"; the op's name if several layers share a location
  bool backward = false;
  target::Way way;
  int64_t steps = 0;  ///< sum over all launches
  double seconds = 0; ///< sum over all launches
  int64_t launches = 0;
};

/// The variants used by one entry, in the order of its programs. Empty if no device has several
/// variants.
std::vector<LayerWay> recurrenceWays(const package::PackageData &data, const package::Entry &entry,
                                     const target::Machines &machines, double realSteps = 1);

} // namespace lstmc::planning
