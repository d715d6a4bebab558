// How many devices there may be, and which process of a job has which.
#pragma once

#include <cstddef>

namespace lstmc {

/// Most devices in a device list and in a package. Each has a thread and an arena of its own, so
/// without a limit a file of a kilobyte could ask for a thousand of them.
inline constexpr int kMaxDevices = 64;

/// The rank that has a device: of D devices and n ranks, n <= D, rank r has [floor(r D / n),
/// floor((r + 1) D / n)).
constexpr int rankOfDevice(size_t device, size_t devices, int ranks) {
  // The last rank that begins at the device or before it.
  return int(((device + 1) * size_t(ranks) - 1) / devices);
}

} // namespace lstmc
