// The NVIDIA driver as a table of function pointers, so that no build needs it and the emulated GPU
// can take its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "executor/base/Status.h"

namespace lstmc::cuda {

// As the driver's binary interface has them.
using DriverResult = int; ///< 0: done
using CardNumber = int;
using DeviceAddress = unsigned long long;
using DriverContext = struct OpaqueContext *;
using DriverStream = struct OpaqueStream *;
using DriverEvent = struct OpaqueEvent *;
using DriverGraph = struct OpaqueGraph *;
using DriverExecutable = struct OpaqueExecutable *; ///< a graph that can be launched
using DriverModule = struct OpaqueModule *;
using DriverFunction = struct OpaqueFunction *;

inline constexpr unsigned kStreamNonBlocking = 1, kEventWithoutTiming = 2;
/// Of pin: for all contexts.
inline constexpr unsigned kPinnedForAll = 1;
/// Of beginCapture: other threads may meanwhile call what a capture does not allow.
inline constexpr unsigned kCaptureOfThread = 1;
/// Of setAttribute: the most shared memory that a block of the kernel may ask for, and whether its
/// clusters may have more blocks than every GPU with clusters takes.
inline constexpr int kMostSharedBytes = 8, kLargeClusters = 14;
/// Of deviceAttribute: the most that a block of any kernel may ask for, the number of
/// multiprocessors, the compute capability; clocks in kHz, the bits of a transfer from memory, of
/// which there are two in a cycle, and the bytes of the cache that all multiprocessors share.
inline constexpr int kSharedBytesOfBlock = 97, kMultiprocessorCount = 16, kCapabilityMajor = 75,
                     kCapabilityMinor = 76, kClockRate = 13, kMemoryClockRate = 36,
                     kMemoryBusWidth = 37, kL2CacheSize = 38;
/// Of enablePeer: it was enabled before.
inline constexpr DriverResult kPeerAlreadyEnabled = 704;
/// Of function: the module has none of that name.
inline constexpr DriverResult kNotFound = 500;
/// Of query: not all that the stream was given is done.
inline constexpr DriverResult kNotReady = 600;
/// Of mostClusters and launch: no cluster of that size fits.
inline constexpr DriverResult kInvalidClusterSize = 912;

/// Of a launch: all of its blocks run at the same time, or its clusters have these extents.
struct LaunchAttribute {
  enum Kind : int { Cooperative = 2, Cluster = 4 };
  alignas(8) int kind = 0;
  int unused = 0;
  unsigned value[16] = {};
};
struct LaunchConfig {
  unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  unsigned sharedBytes = 0;
  DriverStream stream = nullptr;
  const LaunchAttribute *attributes = nullptr;
  unsigned attributeCount = 0;
};

/// Bytes that an operation on a stream reads or writes.
struct MemoryUse {
  DeviceAddress begin = 0;
  uint64_t bytes = 0;
  bool writes = false;
  std::string_view name; ///< of the operand, for messages
};

struct Driver {
#define LSTMC_DRIVER(FIELD, SYMBOL, PARAMETERS) DriverResult(*FIELD) PARAMETERS = nullptr;
#include "backends/cuda/runtime/Driver.def"

  /// Of the emulated GPU only, else null: what the next launch of this thread may touch.
  void (*expect)(std::span<const MemoryUse> uses) = nullptr;

  /// "CUDA_ERROR_OUT_OF_MEMORY: out of memory"
  std::string textOf(DriverResult error) const;
};

/// That of this machine, loaded at the first call. E0501 says what is missing and where it was
/// looked for.
Result<const Driver *> machineDriver();

/// The driver of the library of this name.
Result<Driver> loadDriver(const char *library);

} // namespace lstmc::cuda
