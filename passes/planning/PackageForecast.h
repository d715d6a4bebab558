// Forecast of a package before it runs: time, waiting, communication, and whether it fits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/target/Target.h"
#include "passes/planning/HostForecast.h"
#include "passes/planning/RecurrenceWays.h"

namespace lstmc::planning {

struct PackageForecast {
  std::optional<double> updateSeconds,
      forwardSeconds;       ///< of `step`; of `forward`, else `evaluate`
  int64_t sentBytes = 0;    ///< by all devices, per update, else per forward
  std::vector<double> idle; ///< idle fraction of that time, per device
  std::vector<HostForecast>
      hosts; ///< load of each host in that time; empty if devices are connected by links
  std::vector<LayerWay> ways;              ///< for devices with several recurrence kernels
  std::vector<target::DriverBytes> driver; ///< memory beside the plan, per device
  std::optional<double> speedup;           ///< over the first device alone
  double realSteps = 1; ///< fraction of non-padding steps; 1 if lengths are unused or unknown
  int64_t replicas =
      0; ///< total replicas, if the package contains only a few of them; 0: it contains all
  std::string rates; ///< source of the rates: "this machine", "built-in", a cluster's file

  double seconds() const { return updateSeconds.value_or(forwardSeconds.value_or(0)); }
};

/// `machines` and `realSteps`: see forecast(). Leaves `speedup` unset, because it needs the plan of
/// one device.
PackageForecast forecastPackage(const package::PackageData &data, const target::Machines &machines,
                                double realSteps = 1);

/// Bytes that each device may use; empty: unknown.
using Capacities = std::vector<uint64_t>;

bool fits(const package::PackageData &data, const Capacities &capacities);

/// Forecast time of one entry; nullopt if the package lacks it.
std::optional<double> forecastSeconds(const package::PackageData &data, std::string_view entry,
                                      const target::Machines &machines, double realSteps = 1);

} // namespace lstmc::planning
