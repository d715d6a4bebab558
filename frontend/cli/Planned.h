// What `plan` plans for, and what it knows of a plan.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "executor/session/Peers.h"
#include "frontend/cli/Operand.h"
#include "passes/planning/Cluster.h"
#include "passes/planning/PackageForecast.h"

namespace lstmc::cli {

/// Where it is planned for: the devices of --cluster that -d names, or this machine's.
struct Target {
  std::optional<planning::Cluster> cluster; ///< all of it
  uint64_t mayUse = 0;                      ///< of --mem; 0: not given
  std::shared_ptr<Peers> job;               ///< of which this process is a rank; null: of none
  int threads = 0;
  double realSteps = 1; ///< of the data, where sequences have lengths
};

/// A plan for some devices, and what is known of it.
struct Planned {
  package::PackageData data;
  std::vector<passes::BatchShare> shares;
  std::vector<passes::Layout> layouts;
  Diagnostics warnings;
  std::string recomputed;          ///< as Model has it
  planning::Capacities capacities; ///< for arenas
  std::vector<uint64_t> messages;  ///< what each may use beside that, for messages
  target::Machines machines;
  planning::PackageForecast forecast;
  std::string messageRates;       ///< of those between ranks; empty: there are none
  std::optional<double> measured; ///< of --measured: seconds of what forecast.seconds() is of
};

/// Every host of a cluster with hosts runs a process, and every rank is one; else there is one.
std::vector<int> processesOf(const Planned &planned, const Target &target);

/// Leaves of `capacities`, which are what devices have, what --mem allows, without what messages
/// between processes take of the memory of hosts.
void limitMemory(Planned &planned, const Target &target);

} // namespace lstmc::cli
