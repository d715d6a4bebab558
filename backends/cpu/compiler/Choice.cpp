#include "backends/cpu/compiler/Choice.h"

#include <algorithm>

namespace lstmc::cpu {

int64_t projectionSteps(int64_t steps, int64_t batch, int64_t width, int64_t elementBytes,
                        uint64_t maxBytes) {
  int64_t wanted = std::max<int64_t>(1, kProjectionRows / batch);
  auto stepBytes = double(batch) * double(width) * double(elementBytes);
  auto affordable = int64_t(std::min(double(maxBytes) / stepBytes, 1e9));
  return std::clamp<int64_t>(std::min(wanted, affordable), 1, steps);
}

double estimateSeconds(int64_t flops, int64_t movedBytes, const CoreFigures &figures) {
  return std::max(double(flops) / figures.flopsPerSecond,
                  double(movedBytes) / figures.bytesPerSecond) +
         figures.launchSeconds;
}

} // namespace lstmc::cpu
