// The single piece of memory of a host device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "executor/base/Status.h"

namespace lstmc {

/// Where arenas get their memory from, if not from the system. Both functions get `user` and do not
/// throw. `allocate` gives `bytes` aligned to `alignment`, or null; `release` takes them back.
struct MemorySource {
  void *(*allocate)(void *user, size_t bytes, size_t alignment) = nullptr;
  void (*release)(void *user, void *memory, size_t bytes) = nullptr;
  void *user = nullptr;
};

/// Zeroed memory, aligned to kAlignment; from 2 MiB on, aligned to 2 MiB and with huge pages
/// advised. It lies between guard pages that may not be touched. Below 2 MiB, the first byte after
/// the memory (its size rounded up to kAlignment) is in a guard page. Memory of a source has no
/// guard pages.
class Arena {
public:
  Arena() = default;
  explicit Arena(const MemorySource &source) : source_(source) {}
  ~Arena() { release(); }
  Arena(Arena &&other) noexcept { *this = static_cast<Arena &&>(other); }
  Arena &operator=(Arena &&other) noexcept;

  /// Maps `bytes` and releases what was held before. E0901 naming `owner` if the system, or the
  /// source, has no memory.
  Status allocate(uint64_t bytes, std::string_view owner);
  void release();

  std::byte *data() const { return data_; }
  uint64_t bytes() const { return bytes_; }
  /// Whether the memory is from the system, not from a source.
  bool isMapped() const { return !source_.allocate; }
  /// Most bytes that were held at one time.
  uint64_t peakBytes() const { return peakBytes_; }

private:
  Status allocateFromSource(uint64_t bytes, std::string_view owner);

  MemorySource source_;
  void *mapping_ = nullptr;
  size_t mapped_ = 0;
  std::byte *data_ = nullptr;
  uint64_t bytes_ = 0;
  uint64_t peakBytes_ = 0;
};

} // namespace lstmc
