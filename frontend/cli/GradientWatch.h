// Looks at the norms of gradients while a network trains.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "executor/package/PackageData.h"
#include "executor/training/TrainEvents.h"
#include "frontend/cli/Console.h"

namespace lstmc::cli {

/// Warns once, with the line of the worst parameter, where gradients vanish or explode: the root
/// mean square of one is a millionth of the median of all weights, or a million times it while none
/// vanishes; or it is a ten-thousandth of both its neighbours, or ten thousand times both.
/// Neighbours are those declared before and after it. Parameters of one axis, as biases, are
/// compared with one another. Looks at update 10 and at every line of the log.
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
  static constexpr double kFarFromAll = 1e6, kFarFromNeighbours = 1e4;

  /// A parameter and its gradient's root mean square.
  struct Sized {
    const package::Parameter *parameter;
    double size;
  };
  struct Finding {
    const package::Parameter *parameter;
    std::string text;
  };
  void look(const training::UpdateEvent &event);
  /// In the order in which they are declared: those with one axis, or the others.
  std::vector<Sized> sizesOf(const training::UpdateEvent &event, bool biases) const;
  static std::optional<Finding> farFromAll(std::vector<Sized> sizes, bool biases);
  static std::optional<Finding> farFromNeighbours(const std::vector<Sized> &sizes);

  const Console &console_;
  const package::PackageData &package_;
  bool warned_ = false;
};

} // namespace lstmc::cli
