// Copies out of a GPU's memory that are on their way while the host goes on.
#pragma once

#include <mutex>
#include <span>
#include <vector>

#include "backends/cuda/runtime/PinnedMemory.h"

namespace lstmc::cuda {

/// Small ones go through pinned memory of the host, since the driver waits for a copy to memory
/// that is not; that is there from the first of them on. Used by any thread; all functions return
/// the driver's first error, and are called with the context set.
class Fetching {
public:
  static constexpr size_t kBytes = 64 << 10;

  explicit Fetching(const Driver &driver) : driver_(driver), memory_(driver, kBytes) {}
  Fetching(const Fetching &) = delete;
  Fetching &operator=(const Fetching &) = delete;

  /// The stream of the copies, which is the caller's.
  void open(DriverStream stream) { stream_ = stream; }
  /// Before the stream is destroyed.
  void close();

  /// Begins a copy. What has no room in the pinned memory goes straight to `to`.
  DriverResult copyOut(std::span<std::byte> to, DeviceAddress from);
  /// Returns when all copies are there.
  DriverResult finish();

private:
  struct Piece {
    std::span<std::byte> to;
    const std::byte *from; ///< in the pinned memory
  };

  const Driver &driver_;
  DriverStream stream_ = nullptr;
  std::mutex mutex_;
  PinnedMemory memory_;
  size_t used_ = 0;
  std::vector<Piece> pieces_;
  bool underWay_ = false;
};

} // namespace lstmc::cuda
