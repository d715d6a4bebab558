// How well a training uses more and more hosts, each with as many rows of the batch as one has by
// itself.
#pragma once

#include <functional>

#include "executor/base/Diagnostic.h"
#include "passes/planning/ManyHosts.h"

namespace lstmc::planning {

/// A package that is to be compiled.
struct Pattern {
  Cluster cluster; ///< its devices
  int64_t rows;    ///< of the batch
  int64_t shards;
  int64_t stages;
  int64_t chunks; ///< 0: stages is 1
};
using CompilePattern = std::function<Checked<package::PackageData>(const Pattern &)>;

struct ScalingPoint {
  int64_t hosts;
  double seconds;    ///< of an update
  double efficiency; ///< rows in a second, of what as many hosts would do without one another
  Bound bound;       ///< of the host that has most to do
  int64_t compiled, replicas; ///< how many replicas of these stand for all
  bool held;                  ///< the forecast was faster than with fewer hosts, which it cannot be
};

/// Hosts as replicas of so many stages: of 1, data parallelism.
struct ScalingCurve {
  int64_t stages = 1, chunks = 0;
  std::vector<ScalingPoint> points = {};
};

struct Scaling {
  int64_t rows = 0;   ///< of a host
  int64_t layers = 0; ///< of the net, most stages there can be
  double seconds = 0; ///< of one host by itself
  std::vector<ScalingCurve> curves = {};
};

/// Stages are powers of two up to the number of layers, and hosts those of `hosts` that are whole
/// replicas. Each stage has the number of chunks that is fastest for few replicas. Hosts are like
/// the first of the cluster, with `perHost` devices (devicesPerHost()).
Checked<Scaling> scaling(const Cluster &cluster, int64_t perHost, int64_t rows,
                         const std::vector<int64_t> &hosts, int64_t bigArrayBound,
                         const CompilePattern &compile);

} // namespace lstmc::planning
