// The memory of emulated cards, at addresses that the host may not touch.
#pragma once

#include <map>
#include <mutex>

#include "backends/cuda/runtime/Driver.h"

namespace lstmc::cuda {

/// What all cards have given out. An address is one of a range of pages that trap; the bytes are
/// elsewhere.
class CardMemory {
public:
  /// 0 if the memory or its addresses cannot be had. The bytes are no zeros.
  DeviceAddress allocate(CardNumber card, size_t bytes);
  /// False if nothing begins there.
  bool free(DeviceAddress address);

  /// Where the bytes are; null if they are not all in one allocation.
  std::byte *find(DeviceAddress address, uint64_t bytes) const;
  /// Whether the address is of this card, or of none.
  bool isOf(CardNumber card, DeviceAddress address) const;
  /// Bytes that a card has given out.
  uint64_t given(CardNumber card) const;

  /// Calls f(address, bytes, memory) for each allocation.
  template <typename F> void each(F f) const {
    std::lock_guard lock(mutex_);
    for (const auto &[begin, allocation] : allocations_)
      f(begin, allocation.bytes, allocation.memory);
  }

private:
  struct Allocation {
    CardNumber card;
    size_t bytes, mapped;
    std::byte *memory;
  };
  mutable std::mutex mutex_;
  std::map<DeviceAddress, Allocation> allocations_;
};

} // namespace lstmc::cuda
