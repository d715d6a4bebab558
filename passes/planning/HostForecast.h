// Forecast of each host's load during an entry, and of its bottleneck.
#pragma once

#include <string>
#include <vector>

#include "executor/package/PackageData.h"
#include "passes/planning/forecast/Forecast.h"

namespace lstmc::planning {

/// Arithmetic and Memory: most of the time is computation, limited by that resource. Waiting: no
/// resource is used for half of the time, because of latency or of load on other hosts.
enum class Bound { Arithmetic, Memory, Sending, Receiving, Waiting };

std::string_view wordOf(Bound bound);

/// Fractions refer to the entry's time.
struct HostForecast {
  int host = 0;                          ///< Machine::host
  int64_t count = 1;                     ///< number of hosts that this one represents
  std::vector<std::string> devices = {}; ///< devices of the host in the package
  HostTimes times = {};
  double computing = 0; ///< of the device with the most work
  double sending = 0, receiving = 0;
  Bound bound = Bound::Waiting;

  /// Whether both have about the same load, whatever `host` and device names are.
  bool isLike(const HostForecast &other) const;
};

/// Forecasts for the hosts of the package's devices, in order; empty if devices are connected by
/// links.
std::vector<HostForecast> forecastHosts(const package::PackageData &data,
                                        const target::Machines &machines, const EntryTimes &times);

} // namespace lstmc::planning
