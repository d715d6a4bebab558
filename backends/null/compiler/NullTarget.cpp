#include "backends/null/compiler/NullTarget.h"

namespace lstmc::null {

namespace {

/// For estimates of ops and for clusters: unrealistically fast, so that only launch overhead
/// counts.
constexpr target::Speeds kSpeeds = {1e15, 1e14, kLaunchSeconds};

/// The one figure of a machine, where it has any: seconds of a launch.
class NullTarget : public target::Target {
public:
  /// The plain form: a product for each step.
  int64_t projectionSteps(const target::Projection &) const override { return 1; }

  double launchSeconds(const target::Machine &machine, KernelId,
                       const target::Work &) const override {
    return machine.figures.empty() ? kLaunchSeconds : machine.figures[0];
  }
  target::Speeds speeds(const target::Machine &machine) const override {
    target::Speeds speeds = kSpeeds;
    speeds.launchSeconds = launchSeconds(machine, {}, {});
    return speeds;
  }
  target::Machine withSpeeds(const target::Machine &, const target::Speeds &speeds) const override {
    return {.figures = {speeds.launchSeconds}};
  }
  target::Machine slowed(const target::Machine &machine, double times) const override {
    target::Machine slow = machine;
    slow.figures = {times * launchSeconds(machine, {}, {})};
    return slow;
  }
};

} // namespace

const target::Target &nullTarget() {
  static const NullTarget target;
  return target;
}

} // namespace lstmc::null
