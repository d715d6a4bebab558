// Weak-scaling forecast of a training: more hosts, each with the rows that one host has alone.
#pragma once

#include <functional>

#include "executor/base/Diagnostic.h"
#include "passes/planning/ManyHosts.h"

namespace lstmc::planning {

/// A configuration to compile.
struct Pattern {
  Cluster cluster; ///< devices to compile for
  int64_t rows;    ///< rows of the batch
  int64_t shards;
  int64_t stages;
  int64_t chunks; ///< 0: stages is 1
};
using CompilePattern = std::function<Checked<package::PackageData>(const Pattern &)>;

struct ScalingPoint {
  int64_t hosts;
  double seconds;             ///< of an update
  double efficiency;          ///< throughput relative to `hosts` independent hosts
  Bound bound;                ///< bottleneck of the host with the most work
  int64_t compiled, replicas; ///< compiled replicas, which represent all `replicas`
  bool held; ///< capped: the forecast was faster than with fewer hosts, which is impossible
};

/// Hosts divided into replicas of `stages` stages; 1: data parallelism.
struct ScalingCurve {
  int64_t stages = 1, chunks = 0;
  std::vector<ScalingPoint> points = {};
};

struct Scaling {
  int64_t rows = 0;   ///< rows per host
  int64_t layers = 0; ///< layers of the net: the maximum number of stages
  double seconds = 0; ///< time of one host alone
  std::vector<ScalingCurve> curves = {};
};

/// Stages are powers of two up to the number of layers; points are the counts in `hosts` that
/// consist of whole replicas. The number of chunks of each curve is the fastest for a few replicas.
/// All hosts equal the first of the cluster, with `perHost` devices (devicesPerHost()).
Checked<Scaling> scaling(const Cluster &cluster, int64_t perHost, int64_t rows,
                         const std::vector<int64_t> &hosts, int64_t bigArrayBound,
                         const CompilePattern &compile);

} // namespace lstmc::planning
