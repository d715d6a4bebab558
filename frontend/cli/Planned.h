// What `plan` plans for, and what it knows of a plan.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "frontend/cli/Model.h"
#include "passes/planning/Cluster.h"
#include "passes/planning/PackageForecast.h"

namespace lstmc::cli {

/// Where it is planned for: the devices of --cluster that -d names, or this machine's.
struct Target {
  std::optional<planning::Cluster> cluster; ///< all of it
  uint64_t mayUse = 0;                      ///< of --mem; 0: not given
  int threads = 0;
  double realSteps = 1; ///< of the data, where sequences have lengths
};

/// A plan for some devices, and what is known of it.
struct Planned {
  package::PackageData data;
  std::vector<passes::BatchShare> shares;
  std::vector<passes::Layout> layouts;
  Diagnostics warnings;
  std::string recomputed; ///< as Model has it
  planning::Capacities capacities;
  target::Machines machines;
  planning::PackageForecast forecast;
  std::optional<double> measured; ///< of --measured: seconds of what forecast.seconds() is of
};

} // namespace lstmc::cli
