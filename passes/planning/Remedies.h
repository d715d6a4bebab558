// What can be changed so that a plan fits: which changes are tried, in which order, and which are
// worth telling.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lstmc::planning {

/// One change of what was asked for; the fields of the other kinds say nothing.
struct Change {
  enum class Kind {
    Recompute,  ///< of these layers, or of the steps
    Accumulate, ///< so many parts of the batch
    Replicas,   ///< so many devices, each with part of the batch
    Split,      ///< so many devices, batch and layers shared out as is forecast to be fastest
    Batch,      ///< of so many rows
  };
  Kind kind;
  int64_t count = 0;
  std::vector<std::string> layers = {};
};

/// A plan: bytes of each device's arena, seconds by forecast, whether the devices have as much.
struct Outcome {
  std::vector<uint64_t> peaks;
  double seconds = 0;
  bool fits = false;
};

struct Remedy {
  Change change;
  std::vector<uint64_t> peaks;
  double timeFraction; ///< of the time as asked for that it takes more; below 0: less
};

/// What fits; where nothing does, what came nearest to it.
struct Remedies {
  std::vector<Remedy> found;
  std::optional<Remedy> nearest;
};

/// A plan that does not fit, as far as remedies depend on it.
struct Misfit {
  double seconds = 0;
  std::vector<std::vector<std::string>> layers; ///< layersToRecompute()
  std::vector<std::string> steps;               ///< stepsToRecompute()
  int64_t accumulate = 1;
  size_t devices = 1, mostDevices = 8; ///< in use, and that may be
  std::optional<int64_t> batch;        ///< where the net has one that can be set
};

/// Plans with a change; none where that cannot be compiled.
using PlanWith = std::function<std::optional<Outcome>(const Change &)>;

/// Of each kind the least change that is enough; of changes that come to the same plan the first.
Remedies remediesFor(const Misfit &misfit, const PlanWith &planWith);

/// The most of them; 0 of none.
uint64_t mostOf(const std::vector<uint64_t> &peaks);

} // namespace lstmc::planning
