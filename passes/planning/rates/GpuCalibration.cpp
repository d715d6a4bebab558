#include "passes/planning/rates/GpuCalibration.h"

#include <algorithm>
#include <chrono>

#include "passes/planning/PackageForecast.h"
#include "passes/planning/rates/CalibrationNets.h"
#include "passes/planning/rates/MeasuredNet.h"

namespace lstmc::planning {

namespace {

/// Lower bound on measured times, below the resolution of any clock.
constexpr double kShortest = 1e-9;

class Probing {
public:
  Probing(const DeviceName &device, int rounds) : rounds_(rounds) {
    options_.entries = {"forward"};
    options_.devices = {device.text()};
    options_.disabled = {"fuse"};
  }

  Result<package::Package::Pointer> compiled(const std::string &net) const {
    return compileText(net, options_);
  }

  /// The shortest time of a run; the first run builds the graph.
  Result<double> secondsOf(const package::Package::Pointer &package) const {
    using Clock = std::chrono::steady_clock;
    LSTMC_ASSIGN(std::unique_ptr<Session> session, openSession(package, 1));
    double least = 1e9;
    for (int round = -1; round < rounds_; ++round) {
      const Clock::time_point begin = Clock::now();
      LSTMC_TRY(session->run("forward"));
      const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      if (round >= 0)
        least = std::min(least, seconds);
    }
    return std::max(least, kShortest);
  }
  Result<double> secondsOf(const std::string &net) const {
    LSTMC_ASSIGN(package::Package::Pointer package, compiled(net));
    return secondsOf(package);
  }

private:
  int rounds_;
  passes::CompileOptions options_;
};

} // namespace

Result<GpuMeasured> measureGpu(const DeviceName &device, const target::Machine &machine,
                               const GpuProbe &probe) {
  const Probing probing(device, probe.rounds);
  constexpr int kFew = 16;
  LSTMC_ASSIGN(double one, probing.secondsOf(halvesNet(kFew, 1)));
  LSTMC_ASSIGN(double many, probing.secondsOf(halvesNet(kFew, 1 + probe.launches)));
  LSTMC_ASSIGN(double copy, probing.secondsOf(halvesNet(probe.elements, 1)));
  LSTMC_ASSIGN(double product, probing.secondsOf(productNet(probe.extent)));
  GpuMeasured measured;
  auto beyond = [](double seconds, double floor) { return std::max(seconds - floor, kShortest); };
  measured.launchSeconds = beyond(many, one) / probe.launches;
  measured.bytesPerSecond = 2.0 * sizeof(float) * probe.elements / beyond(copy, one);
  const double extent = probe.extent;
  measured.flopsPerSecond = 2 * extent * extent * extent / beyond(product, one);
  LSTMC_ASSIGN(package::Package::Pointer recurrence,
               probing.compiled(recurrenceNet(probe.steps, probe.batch, probe.hidden)));
  LSTMC_ASSIGN(double steps, probing.secondsOf(recurrence));
  measured.recurrences =
      beyond(steps, one) / *forecastSeconds(recurrence->data(), "forward", {machine});
  return measured;
}

} // namespace lstmc::planning
