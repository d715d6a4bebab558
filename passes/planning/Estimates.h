// How long layouts take, about, from what one device takes for the net: which are worth compiling.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "executor/package/PackageData.h"
#include "passes/planning/LayoutDevices.h"

namespace lstmc::planning {

/// Chunks that are tried; those that are more than steps count as steps.
inline constexpr int64_t kChunks[] = {1, 2, 4, 8, 16, 32};

/// What estimates are made from: the net on one device. Keeps a reference to `data`, which has a
/// weighedEntry().
class NetOnOneDevice {
public:
  explicit NetOnOneDevice(const package::PackageData &data);

  /// Of the whole entry.
  double seconds(const Worker &worker) const;
  /// Layers that work with parameters, in order, and how long each takes going forward.
  const std::vector<std::string> &layers() const { return layers_; }
  std::vector<double> layerSeconds(const Worker &worker) const;
  bool trains() const { return entry_.name == "step"; }
  double parameterBytes() const { return parameterBytes_; }
  /// About what one layer gives the next.
  double sentBytes() const { return sentBytes_; }

private:
  const package::PackageData &data_;
  const package::Entry &entry_;
  std::vector<std::string> layers_;
  double parameterBytes_ = 0, sentBytes_ = 0;
};

/// A layout that may be worth compiling.
struct Candidate {
  passes::CompileOptions options;
  double seconds; ///< about
};

/// Of each number of devices and stages that `options` leave open, the best number of chunks; the
/// most promising first.
std::vector<Candidate> candidates(const passes::CompileOptions &options, const NetOnOneDevice &net);

/// For place-devices: "NAME=PICOSECONDS/..", what each layer costs on each of the stages' devices.
std::vector<std::string> stageCosts(const NetOnOneDevice &net, const Workers &stages);

} // namespace lstmc::planning
