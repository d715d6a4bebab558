#include "backends/cuda/runtime/Shape.h"

namespace lstmc::cuda {

DriverResult findShape(const Driver &driver, CardNumber card, GpuShape &shape) {
  int sharedBytes = 0, major = 0, minor = 0;
  DriverResult error = driver.deviceAttribute(&sharedBytes, kSharedBytesOfBlock, card);
  if (!error)
    error = driver.deviceAttribute(&shape.multiprocessors, kMultiprocessorCount, card);
  if (!error)
    error = driver.deviceAttribute(&major, kCapabilityMajor, card);
  if (!error)
    error = driver.deviceAttribute(&minor, kCapabilityMinor, card);
  if (error)
    return error;
  shape.sharedBytes = sharedBytes;
  shape.cluster = clusterOf(major * 10 + minor);
  shape.f64Issue = f64IssueOf(major * 10 + minor);
  // A part of a card, or one of a virtual machine, may not say how fast it is.
  auto known = [&](int attribute) {
    int value = 0;
    return driver.deviceAttribute(&value, attribute, card) == 0 && value > 0 ? value : 0;
  };
  constexpr double kKilo = 1e3, kBitsOfByte = 8;
  if (const int clock = known(kClockRate))
    shape.clock = clock * kKilo;
  if (const int bytes = known(kL2CacheSize))
    shape.l2Bytes = bytes;
  const double transfers = 2 * kKilo * known(kMemoryClockRate);
  if (const double rate = transfers * known(kMemoryBusWidth) / kBitsOfByte; rate > 0)
    shape.memoryBytesPerSecond = rate;
  return 0;
}

} // namespace lstmc::cuda
