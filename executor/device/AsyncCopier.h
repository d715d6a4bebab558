// Copies from and to the host that are made while launches run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lstmc {

/// What a device is besides if it copies both ways while it carries out launches. From any thread.
class AsyncCopier {
public:
  virtual ~AsyncCopier() = default;

  /// Begins to copy to bytes of the arena that no launch uses. `from` is to stay as it is until
  /// awaitAhead().
  virtual void copyAhead(uint64_t offset, std::span<const std::byte> from) = 0;
  /// Returns when all that was copied ahead is there.
  virtual void awaitAhead() = 0;
  /// Copies within the arena. What is launched or copied ahead later comes after it.
  virtual void copyWithin(uint64_t to, uint64_t from, uint64_t bytes) = 0;

  /// Begins to copy from bytes of the arena, after what the host has copied there. No launch that
  /// is under way or comes before awaitBack() writes them.
  virtual void copyBack(uint64_t offset, std::span<std::byte> to) = 0;
  /// Returns when all that was copied back is there.
  virtual void awaitBack() = 0;
};

} // namespace lstmc
