// The one piece of memory that a host device ever holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "executor/base/Status.h"

namespace lstmc {

/// Zeroed memory with an alignment of kAlignment; of 2 MiB, with huge pages advised, from 2 MiB
/// on. It lies between pages that may not be touched: below 2 MiB the byte after the last (of the
/// size rounded up to kAlignment) is in one.
class Arena {
public:
  Arena() = default;
  ~Arena() { release(); }
  Arena(Arena &&other) noexcept { *this = static_cast<Arena &&>(other); }
  Arena &operator=(Arena &&other) noexcept;

  /// Maps `bytes`; what it held before is released. E0901 naming `owner` when the system has no
  /// memory.
  Status allocate(uint64_t bytes, std::string_view owner);
  void release();

  std::byte *data() const { return data_; }
  uint64_t bytes() const { return bytes_; }
  /// Most bytes that were held at one time.
  uint64_t peakBytes() const { return peakBytes_; }

private:
  void *mapping_ = nullptr;
  size_t mapped_ = 0;
  std::byte *data_ = nullptr;
  uint64_t bytes_ = 0;
  uint64_t peakBytes_ = 0;
};

} // namespace lstmc
