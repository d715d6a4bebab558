// What is known of a package before it runs: how long it takes, who waits, what is sent, whether it
// fits.
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
      forwardSeconds;                      ///< of `step`, and of `forward` or else `evaluate`
  int64_t sentBytes = 0;                   ///< by all devices, in an update, else a forward
  std::vector<double> idle;                ///< fraction of the same time, by device
  std::vector<HostForecast> hosts;         ///< in the same time; none where devices have links
  std::vector<LayerWay> ways;              ///< in the same time, where devices have several
  std::vector<target::DriverBytes> driver; ///< beside the plan, by device
  std::optional<double> speedup;           ///< over the first device alone, of the same
  double realSteps = 1; ///< of the steps of all sequences; 1 where they have no lengths or nobody
                        ///< knows them
  int64_t replicas = 0; ///< of which the package has a few; 0: it has all
  std::string rates;    ///< whose they are: "this machine", "built-in", a cluster's file

  double seconds() const { return updateSeconds.value_or(forwardSeconds.value_or(0)); }
};

/// `machines` and `realSteps` as forecast() takes them. No speed-up yet: that needs the plan of one
/// device.
PackageForecast forecastPackage(const package::PackageData &data, const target::Machines &machines,
                                double realSteps = 1);

/// Bytes that each device may use; empty: not known.
using Capacities = std::vector<uint64_t>;

bool fits(const package::PackageData &data, const Capacities &capacities);

/// Of a package's entry, by name; none where it has no such entry.
std::optional<double> forecastSeconds(const package::PackageData &data, std::string_view entry,
                                      const target::Machines &machines, double realSteps = 1);

} // namespace lstmc::planning
