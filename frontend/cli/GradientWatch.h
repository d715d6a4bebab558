// Looks at the norms of gradients while a network trains.
#pragma once

#include <vector>

#include "executor/package/PackageData.h"
#include "executor/training/TrainEvents.h"
#include "frontend/cli/Console.h"

namespace lstmc::cli {

/// Warns once, with the line of the worst weight, where gradients vanish or explode: the root mean
/// square of one is a millionth of the median of all weights, or a million times it while none
/// vanishes. Looks at update 10 and at every line of the log. Parameters of one axis, as biases,
/// are not looked at.
class GradientWatch : public training::TrainObserver {
public:
  GradientWatch(const Console &console, const package::PackageData &package)
      : console_(console), package_(package) {}

  void tick(const training::UpdateEvent &event) override {
    if (event.progress.update == kFirstLook)
      look(event);
  }
  void update(const training::UpdateEvent &event) override { look(event); }

private:
  static constexpr int64_t kFirstLook = 10;
  static constexpr double kFar = 1e6;

  /// A weight and its gradient's root mean square.
  struct Weight {
    const package::Parameter *parameter;
    double size;
  };
  void look(const training::UpdateEvent &event);
  std::vector<Weight> weightsOf(const training::UpdateEvent &event) const;

  const Console &console_;
  const package::PackageData &package_;
  bool warned_ = false;
};

} // namespace lstmc::cli
