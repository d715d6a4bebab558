// More hosts than are compiled for: of replicas that are alike a few are compiled, and stand for
// all.
#pragma once

#include "passes/planning/Cluster.h"
#include "passes/planning/PackageForecast.h"

namespace lstmc::planning {

/// Devices of each host, where all hosts of the cluster are alike; E0001 naming one that is not.
Result<int64_t> devicesPerHost(const Cluster &cluster);

/// Devices that are compiled for, about; of more, some stand for all.
inline constexpr int64_t kMostCompiled = 32;

/// How many replicas of so many devices the hosts have; E0001 where hosts and replicas do not go
/// into one another.
struct Replicas {
  int64_t stages = 1;   ///< devices of one
  int64_t count = 2;    ///< of them
  int64_t perHost = 1;  ///< that are in one host; 1 where one is in several
  int64_t compiled = 2; ///< of them; the others are like these
};
Result<Replicas> replicasOn(int64_t hosts, int64_t devicesPerHost, int64_t stages);

/// The devices of the replicas that are compiled. Where these are not all, each is on hosts of its
/// own, and has its part of an interface that several have.
Cluster patternOf(const Cluster &cluster, int64_t devicesPerHost, const Replicas &replicas);

/// The forecast of all of them, from a package for the devices of patternOf().
PackageForecast forecastMany(const package::PackageData &pattern, const target::Machines &machines,
                             const Replicas &replicas, int64_t bigArrayBound);

} // namespace lstmc::planning
