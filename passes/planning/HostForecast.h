// What each host of a cluster does in the time of an entry, and what keeps it from being faster.
#pragma once

#include <string>
#include <vector>

#include "executor/package/PackageData.h"
#include "passes/planning/forecast/Forecast.h"

namespace lstmc::planning {

/// Arithmetic and Memory: what its devices compute, by what most of that time goes into. Waiting:
/// none of it fills half of the time; messages take long to come, or others have more to do.
enum class Bound { Arithmetic, Memory, Sending, Receiving, Waiting };

std::string_view wordOf(Bound bound);

/// Fractions are of the entry's time.
struct HostForecast {
  int host = 0;                          ///< Machine::host
  int64_t count = 1;                     ///< of hosts that it stands for
  std::vector<std::string> devices = {}; ///< that the package has of it
  HostTimes times = {};
  double computing = 0; ///< of the device that has most to do
  double sending = 0, receiving = 0;
  Bound bound = Bound::Waiting;

  /// But for where it is.
  bool isLike(const HostForecast &other) const;
};

/// Of the hosts that the package has devices of, in their order; none where devices have links.
std::vector<HostForecast> forecastHosts(const package::PackageData &data,
                                        const target::Machines &machines, const EntryTimes &times);

} // namespace lstmc::planning
