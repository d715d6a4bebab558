// Changes of a request that make a plan fit: which to try, in which order, and which to report.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lstmc::planning {

/// One change of the request; only the fields of its kind are used.
struct Change {
  enum class Kind {
    Recompute,  ///< recompute these layers, or segments of steps
    Accumulate, ///< accumulate gradients over `count` parts of the batch
    Replicas,   ///< data-parallel over `count` devices
    Split,      ///< `count` devices, with the layout that is forecast to be fastest
    Batch,      ///< reduce the batch to `count` rows
  };
  Kind kind;
  int64_t count = 0;
  std::vector<std::string> layers = {};
};

/// Result of planning a change: arena bytes of each device, forecast seconds, whether it fits.
struct Outcome {
  std::vector<uint64_t> peaks;
  double seconds = 0;
  bool fits = false;
};

struct Remedy {
  Change change;
  std::vector<uint64_t> peaks;
  double timeFraction; ///< additional time relative to the request; negative: faster
};

/// Changes that fit; if there are none, the one that came nearest.
struct Remedies {
  std::vector<Remedy> found;
  std::optional<Remedy> nearest;
};

/// A plan that does not fit, with the facts that remedies depend on.
struct Misfit {
  double seconds = 0;
  std::vector<std::vector<std::string>> layers; ///< layersToRecompute()
  std::vector<std::string> steps;               ///< stepsToRecompute()
  int64_t accumulate = 1;
  size_t devices = 1, mostDevices = 8; ///< devices in use, and the maximum available
  std::optional<int64_t> batch;        ///< set if the net has a batch size that can be changed
};

/// Plans with a change; nullopt if that does not compile.
using PlanWith = std::function<std::optional<Outcome>(const Change &)>;

/// For each kind the smallest sufficient change; of changes with equal plans the first.
Remedies remediesFor(const Misfit &misfit, const PlanWith &planWith);

/// The maximum; 0 if empty.
uint64_t mostOf(const std::vector<uint64_t> &peaks);

} // namespace lstmc::planning
