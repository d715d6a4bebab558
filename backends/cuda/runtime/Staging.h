// Copies into a GPU's memory that are on their way while the host goes on.
#pragma once

#include <mutex>
#include <span>

#include "backends/cuda/runtime/PinnedMemory.h"
#include "backends/cuda/runtime/Streams.h"

namespace lstmc::cuda {

/// Pinned memory of the host, from which they are made: whoever asks for a copy may write over its
/// own bytes at once. It is there from the first copy on. Used by any thread; all functions return
/// the driver's first error, and are called with the context set.
class Staging {
public:
  static constexpr size_t kBytes = 1 << 20;

  explicit Staging(const Driver &driver, size_t bytes = kBytes)
      : driver_(driver), memory_(driver, bytes) {}
  Staging(const Staging &) = delete;
  Staging &operator=(const Staging &) = delete;

  /// The stream of the copies, which is the caller's.
  void open(DriverStream stream) { stream_ = stream; }
  /// Before the stream is destroyed.
  void close();

  /// Returns when what is larger than that memory is there, and else at once.
  DriverResult copyIn(DeviceAddress to, std::span<const std::byte> from);
  /// Within the device's memory.
  DriverResult copyWithin(DeviceAddress to, DeviceAddress from, size_t bytes);
  /// What the streams are given from now on comes after all copies so far.
  DriverResult orderBefore(const Streams &streams);
  /// The same of a stream that other copies are given to.
  DriverResult orderBefore(DriverStream other);
  /// Returns when all copies are there.
  DriverResult finish();

private:
  DriverResult makeEvent();

  const Driver &driver_;
  DriverStream stream_ = nullptr;
  DriverEvent copied_ = nullptr;
  std::mutex mutex_;
  PinnedMemory memory_;
  size_t used_ = 0; ///< bytes that copies may still read
  bool underWay_ = false;
  bool ahead_ = false; ///< there are copies that no stream comes after
};

} // namespace lstmc::cuda
