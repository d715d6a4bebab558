// A cluster that is not here, described in a TOML file: what `plan --cluster` plans for.
#pragma once

#include <string>

#include "executor/device/DeviceNames.h"
#include "passes/planning/PackageForecast.h"

namespace lstmc::planning {

/// In the order of the file; every list has an item per device.
struct Cluster {
  std::vector<DeviceName> devices;
  Capacities memory;
  target::Machines machines;
};

/// A file such as
///
///     [[device]]
///     name = "cpu:0"          # as -d and --place take it
///     memory = "16G"
///     flops_per_s = 2e11      # of a product; left out: the built-in figure, as bytes_per_s and
///                             launch_s
///
///     [[link]]
///     between = ["cpu:0", "cpu:1"]   # left out: every two devices that no other link names
///     bytes_per_s = 1.2e9
///     latency_s = 2e-5
///
/// E0601 for a file that cannot be read, E0604 for what is in none, E0612 for a device named twice.
Result<Cluster> readCluster(const std::string &path);

/// Those of its devices that `names` has, in that order; E0001 for one that it has not.
Result<Cluster> chosen(const Cluster &cluster, const std::vector<DeviceName> &names);

} // namespace lstmc::planning
