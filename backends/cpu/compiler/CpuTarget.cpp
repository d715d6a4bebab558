#include "backends/cpu/compiler/CpuTarget.h"

#include <algorithm>

#include "backends/cpu/compiler/CostModel.h"

namespace lstmc::cpu {

namespace {

/// Rows that a product needs to run at full speed; more only pushes weights out of the cache
/// (tests/bench/RESULTS.md).
constexpr int64_t kProjectionRows = 200;

class CpuTarget : public target::Target {
public:
  /// As many as make up about kProjectionRows rows; 1 where two steps are too much.
  int64_t projectionSteps(const target::Projection &all) const override {
    int64_t wanted = std::max<int64_t>(1, kProjectionRows / all.batch);
    auto stepBytes = double(all.batch) * double(all.width) * double(all.elementBytes);
    auto affordable = int64_t(std::min(double(all.maxBytes) / stepBytes, 1e9));
    return std::clamp<int64_t>(std::min(wanted, affordable), 1, all.steps);
  }

  double launchSeconds(const target::Machine &machine, KernelId kernel,
                       const target::Work &work) const override {
    return secondsOf(machine, kernel, work);
  }
  target::Speeds speeds(const target::Machine &machine) const override {
    return cpu::speeds(machine);
  }
  target::Machine withSpeeds(const target::Machine &, const target::Speeds &speeds) const override {
    return cpu::withSpeeds(speeds);
  }
  target::Machine slowed(const target::Machine &machine, double times) const override {
    target::Machine slow = machine;
    slow.figures = figuresOf(machine);
    for (double &figure : slow.figures)
      figure *= times;
    return slow;
  }
  std::span<const target::FigureName> figureNames() const override { return cpu::figureNames(); }
  target::Machine fit(std::span<const target::Sample> samples, int threads) const override {
    return cpu::fit(samples, threads);
  }
};

} // namespace

const target::Target &cpuTarget() {
  static const CpuTarget target;
  return target;
}

} // namespace lstmc::cpu
