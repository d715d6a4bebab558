// Estimates the time of layouts from the net compiled for one device, to select those worth
// compiling.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "executor/package/PackageData.h"
#include "passes/planning/LayoutDevices.h"

namespace lstmc::planning {

/// Numbers of chunks to try, capped at the number of steps.
inline constexpr int64_t kChunks[] = {1, 2, 4, 8, 16, 32};

/// Basis of the estimates: the net on one device. Keeps a reference to `data`, which must have a
/// weighedEntry().
class NetOnOneDevice {
public:
  explicit NetOnOneDevice(const package::PackageData &data);

  /// Time of the whole entry.
  double seconds(const Worker &worker) const;
  /// Names of the layers with parameters, in order; layerSeconds() returns their forward times.
  const std::vector<std::string> &layers() const { return layers_; }
  std::vector<double> layerSeconds(const Worker &worker) const;
  bool trains() const { return entry_.name == "step"; }
  double parameterBytes() const { return parameterBytes_; }
  /// Approximate size of the activations between two layers.
  double sentBytes() const { return sentBytes_; }

private:
  const package::PackageData &data_;
  const package::Entry &entry_;
  std::vector<std::string> layers_;
  double parameterBytes_ = 0, sentBytes_ = 0;
};

/// A layout to compile.
struct Candidate {
  passes::CompileOptions options;
  double seconds; ///< estimate
};

/// For each combination of devices and stages that `options` leave open, the layout with the best
/// number of chunks; most promising first.
std::vector<Candidate> candidates(const passes::CompileOptions &options, const NetOnOneDevice &net);

/// Costs for place-devices, "NAME=PICOSECONDS/..": each layer's cost on the device of each stage.
std::vector<std::string> stageCosts(const NetOnOneDevice &net, const Workers &stages);

} // namespace lstmc::planning
