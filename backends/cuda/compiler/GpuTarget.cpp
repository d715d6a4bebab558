#include "backends/cuda/compiler/GpuTarget.h"

#include <algorithm>

namespace lstmc::cuda {

namespace {

/// Assumed: what a launch takes at least, and a step of a recurrence, which waits for the one
/// before.
constexpr double kLaunchSeconds = 3e-6, kStepSeconds = 2e-6;

/// f32 without tensor cores, and memory. Source: NVIDIA's data sheet of the H100 SXM.
constexpr target::Speeds kSpeeds = {67e12, 3.35e12, kLaunchSeconds};

/// The figures of a machine, where it has any: those of Speeds, in their order.
class GpuTarget : public target::Target {
public:
  /// The recurrent kernel computes the projection of a step itself, so more steps would take memory
  /// and nothing else.
  int64_t projectionSteps(int64_t, int64_t, int64_t, int64_t, uint64_t) const override { return 1; }

  /// The longer of computing and moving, after the launch; a recurrence has the waits of its steps
  /// besides.
  double launchSeconds(const target::Machine &machine, KernelId,
                       const target::Work &work) const override {
    const target::Speeds speed = speeds(machine);
    const double computing = double(work.flops) / speed.flopsPerSecond,
                 moving = (double(work.bytes) + double(work.steps) * double(work.stepBytes)) /
                          speed.bytesPerSecond;
    const double slower = speed.launchSeconds / kLaunchSeconds;
    return speed.launchSeconds + double(work.steps) * kStepSeconds * slower +
           std::max(computing, moving);
  }
  target::Speeds speeds(const target::Machine &machine) const override {
    const std::vector<double> &figures = machine.figures;
    return figures.size() < 3 ? kSpeeds : target::Speeds{figures[0], figures[1], figures[2]};
  }
  target::Machine withSpeeds(const target::Speeds &speeds) const override {
    return {.figures = {speeds.flopsPerSecond, speeds.bytesPerSecond, speeds.launchSeconds}};
  }
  target::Machine slowed(const target::Machine &machine, double times) const override {
    const target::Speeds own = speeds(machine);
    target::Machine slow = machine;
    slow.figures = {own.flopsPerSecond / times, own.bytesPerSecond / times,
                    own.launchSeconds * times};
    return slow;
  }
};

} // namespace

const target::Target &gpuTarget() {
  static const GpuTarget target;
  return target;
}

} // namespace lstmc::cuda
