#include "passes/planning/Scaling.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "passes/planning/Estimates.h"

namespace lstmc::planning {

namespace {

constexpr int64_t kMostStages = 16;

class Curves {
public:
  Curves(const Cluster &cluster, int64_t perHost, int64_t rows, int64_t bigArrayBound,
         const CompilePattern &compile)
      : cluster_(cluster), perHost_(perHost), rows_(rows), bigArrayBound_(bigArrayBound),
        compile_(compile) {}

  Checked<Scaling> run(const std::vector<int64_t> &hosts) {
    Scaling scaling{.rows = rows_};
    // For one host, all its devices are compiled.
    const Pattern one{firstHost(), rows_, perHost_, 1, 0};
    Checked<package::PackageData> compiled = compile_(one);
    if (!compiled.ok())
      return compiled.diagnostics();
    scaling.layers = int64_t(NetOnOneDevice(*compiled).layers().size());
    scaling.seconds = forecastPackage(*compiled, one.cluster.machines).seconds();
    for (int64_t stages = 1; stages <= std::min(scaling.layers, kMostStages); stages *= 2) {
      ScalingCurve curve{.stages = stages};
      for (int64_t count : hosts)
        if (Result<Replicas> replicas = replicasOn(count, perHost_, stages);
            replicas.ok() && (rows_ * stages) % perHost_ == 0)
          if (Diagnostics errors = addPoint(curve, *replicas, count, scaling.seconds);
              !errors.empty())
            return errors;
      if (!curve.points.empty())
        scaling.curves.push_back(std::move(curve));
    }
    return scaling;
  }

private:
  Cluster firstHost() const {
    Cluster one = cluster_;
    one.devices.resize(size_t(perHost_));
    one.memory.resize(size_t(perHost_));
    one.machines.resize(size_t(perHost_));
    return one;
  }

  Diagnostics addPoint(ScalingCurve &curve, const Replicas &replicas, int64_t hosts, double alone) {
    if (replicas.stages > 1 && curve.chunks == 0)
      if (Diagnostics errors = chooseChunks(curve, replicas); !errors.empty())
        return errors;
    Checked<PackageForecast> known = forecastWith(replicas, curve.chunks);
    if (!known.ok())
      return known.diagnostics();
    const HostForecast *busiest = &known->hosts.front();
    auto most = [](const HostForecast &host) {
      return std::max({host.computing, host.sending, host.receiving});
    };
    for (const HostForecast &host : known->hosts)
      if (most(host) > most(*busiest))
        busiest = &host;
    // A host's work does not shrink among more hosts: if a few replicas that represent all seem
    // faster, the forecast omits waiting that all hosts share.
    const double least = curve.points.empty() ? 0 : curve.points.back().seconds,
                 seconds = std::max(least, known->seconds());
    curve.points.push_back({hosts, seconds, alone / seconds, busiest->bound, replicas.compiled,
                            replicas.count, seconds > known->seconds()});
    return {};
  }

  Diagnostics chooseChunks(ScalingCurve &curve, const Replicas &replicas) {
    double least = 0;
    for (int64_t chunks : kChunks) {
      if (chunks < 4)
        continue;
      Checked<PackageForecast> known = forecastWith(replicas, chunks);
      if (!known.ok())
        return known.diagnostics();
      if (curve.chunks == 0 || known->seconds() < least) {
        curve.chunks = chunks;
        least = known->seconds();
      }
    }
    return {};
  }

  /// One shard per replica; a package serves for all numbers of replicas that it represents.
  Checked<PackageForecast> forecastWith(const Replicas &replicas, int64_t chunks) {
    const int64_t few = replicas.compiled;
    const Cluster pattern = patternOf(cluster_, perHost_, replicas);
    auto &data = compiled_[{few, replicas.stages, chunks}];
    if (!data) {
      Checked<package::PackageData> made = compile_(
          {pattern, few * rows_ * replicas.stages / perHost_, few, replicas.stages, chunks});
      if (!made.ok())
        return made.diagnostics();
      data = std::move(*made);
    }
    return forecastMany(*data, pattern.machines, replicas, bigArrayBound_);
  }

  const Cluster &cluster_;
  const int64_t perHost_, rows_, bigArrayBound_;
  const CompilePattern &compile_;
  std::map<std::tuple<int64_t, int64_t, int64_t>, std::optional<package::PackageData>> compiled_;
};

} // namespace

Checked<Scaling> scaling(const Cluster &cluster, int64_t perHost, int64_t rows,
                         const std::vector<int64_t> &hosts, int64_t bigArrayBound,
                         const CompilePattern &compile) {
  return Curves(cluster, perHost, rows, bigArrayBound, compile).run(hosts);
}

} // namespace lstmc::planning
