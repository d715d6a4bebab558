// Forecasts for clusters with many hosts: a few identical replicas are compiled and represent all.
#pragma once

#include "passes/planning/Cluster.h"
#include "passes/planning/PackageForecast.h"

namespace lstmc::planning {

/// Devices per host, which must be equal on all hosts of the cluster; E0001 names a host that
/// differs.
Result<int64_t> devicesPerHost(const Cluster &cluster);

/// Approximate maximum number of devices to compile for; in larger clusters a few replicas
/// represent all.
inline constexpr int64_t kMostCompiled = 32;

/// Division of the hosts into replicas of `stages` devices; E0001 if hosts and replicas do not
/// divide evenly.
struct Replicas {
  int64_t stages = 1;   ///< devices per replica
  int64_t count = 2;    ///< number of replicas
  int64_t perHost = 1;  ///< replicas on one host; 1 if a replica spans several hosts
  int64_t compiled = 2; ///< replicas that are compiled; they represent all
};
Result<Replicas> replicasOn(int64_t hosts, int64_t devicesPerHost, int64_t stages);

/// The devices of the compiled replicas. If they represent more, each replica gets its own hosts
/// and its share of an interface that several replicas use.
Cluster patternOf(const Cluster &cluster, int64_t devicesPerHost, const Replicas &replicas);

/// Forecast for all replicas, from a package for the devices of patternOf().
PackageForecast forecastMany(const package::PackageData &pattern, const target::Machines &machines,
                             const Replicas &replicas, int64_t bigArrayBound);

} // namespace lstmc::planning
