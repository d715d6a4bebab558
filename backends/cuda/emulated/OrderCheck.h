// Finds two operations on streams that use the same bytes without an order between them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/cuda/runtime/Driver.h"

namespace lstmc::cuda {

/// Knows of every stream which operations of other streams come before what it is given next: by
/// events, and by the host having waited for them. What one thread of the host has waited for
/// counts as known to all its threads, because how they tell one another is not seen here.
class OrderCheck {
public:
  /// The number of a new stream, or of a new event.
  size_t newStream();
  size_t newEvent();

  /// The stream is given an operation, called `what`. Returns what it conflicts with, if anything:
  /// an operation without an order to it that uses some of its bytes, where one of the two writes.
  std::optional<std::string> add(size_t stream, std::string what, std::span<const MemoryUse> uses);
  void record(size_t event, size_t stream) { recorded_[event] = known_[stream]; }
  void wait(size_t stream, size_t event) { merge(known_[stream], recorded_[event]); }
  /// The host has waited for all that the stream was given.
  void synchronized(size_t stream);

private:
  /// For each stream, how many of its operations come before.
  using Clock = std::vector<uint64_t>;
  struct Use {
    DeviceAddress begin;
    uint64_t bytes;
    bool writes;
    std::string name;
  };
  struct Operation {
    size_t stream;
    uint64_t number;
    std::string what;
    std::vector<Use> uses;
  };

  static void merge(Clock &clock, const Clock &other);
  static uint64_t at(const Clock &clock, size_t stream) {
    return stream < clock.size() ? clock[stream] : 0;
  }

  std::vector<Clock> known_;    ///< by stream
  std::vector<Clock> recorded_; ///< by event
  Clock host_;
  std::vector<Operation> open_; ///< operations that the host has not waited for
};

} // namespace lstmc::cuda
