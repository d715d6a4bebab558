// The memory plan as people read it: `inspect --plan`, `plot --what memory`, the plan line of `train`.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "executor/package/PackageData.h"

namespace lstmc::passes {

/// A buffer at the peak.
struct PlannedTensor {
  std::string name;
  package::Kind kind = package::Kind::Activation;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  uint64_t bytes = 0;
  package::Location location; ///< line 0: not of the user's text
};

/// Bytes alive during one launch of an entry; in-place and shared memory counts once.
struct PlanMoment {
  std::string entry;
  uint32_t launch = 0;
  std::string kernel;
  package::Location location; ///< of the launch
};

/// What one device holds.
struct DevicePlan {
  std::string device;        ///< "cpu:0"
  uint64_t peakBytes = 0;    ///< the arena; equals what the runtime measures
  uint64_t persistentBytes = 0;
  /// At the moment of the peak, by package::Kind; with `gapBytes` they add up to peakBytes.
  std::array<uint64_t, package::kKindCount> kindBytes{};
  uint64_t gapBytes = 0;     ///< alignment, and holes between buffers
  /// What the transient region would have to be at least: the most bytes alive at once.
  uint64_t aliveBytes = 0;
  PlanMoment peak;
  std::vector<PlannedTensor> largest; ///< at the peak, largest first, at most 8
  /// Transient bytes of each entry, in the order of the package.
  std::vector<std::pair<std::string, uint64_t>> entries;
  /// Bytes alive (transient) at each launch of each entry: `plot --what memory`.
  std::vector<std::vector<uint64_t>> aliveAt;

  uint64_t weightsBytes() const { return of({package::Kind::Parameter, package::Kind::Auxiliary, package::Kind::Packed}); }
  uint64_t gradientsBytes() const { return of({package::Kind::Gradient}); }
  uint64_t optimizerBytes() const { return of({package::Kind::Optimizer}); }
  uint64_t activationsBytes() const {
    return of({package::Kind::Activation, package::Kind::Input, package::Kind::Output, package::Kind::State,
               package::Kind::Scalar});
  }
  uint64_t workspaceBytes() const { return of({package::Kind::Workspace}) + gapBytes; }

private:
  uint64_t of(std::initializer_list<package::Kind> kinds) const {
    uint64_t sum = 0;
    for (package::Kind kind : kinds)
      sum += kindBytes[size_t(kind)];
    return sum;
  }
};

struct PlanReport {
  std::vector<DevicePlan> devices;
};

} // namespace lstmc::passes
