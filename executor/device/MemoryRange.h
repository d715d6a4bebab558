// Bytes that a tensor lies in, wherever that is: how the host reads and writes them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "executor/base/Status.h"
#include "executor/device/Device.h"

namespace lstmc {

/// A range of bytes that somebody else owns: of the host's own memory, of a device's that the host
/// sees, or of a device's that only the device reaches. Where the host sees it, nothing is copied
/// that need not be.
class MemoryRange {
public:
  MemoryRange() = default; ///< of no bytes
  explicit MemoryRange(std::span<std::byte> host) : host_(host.data()), size_(host.size()) {}
  /// Of the arena that the device has now.
  MemoryRange(Device &device, uint64_t offset, uint64_t size)
      : host_(device.hostVisible() ? device.arena() + offset : nullptr), device_(&device),
        offset_(offset), size_(size) {}

  uint64_t size() const { return size_; }
  /// Where the host may touch it; null where it may not.
  std::byte *host() const { return host_; }
  /// Where it is for launches of its device.
  std::byte *address() const { return device_ ? device_->arena() + offset_ : host_; }

  /// Bytes from `begin` on.
  void read(uint64_t begin, std::span<std::byte> to) const;
  /// Begins to read where the device does that while it carries out launches, which do not write
  /// these bytes; else reads.
  void beginRead(uint64_t begin, std::span<std::byte> to) const;
  /// Returns when all that was begun on its device is read.
  void endRead() const;
  void write(uint64_t begin, std::span<const std::byte> from) const;
  void clear() const;

  /// Hands all bytes to `f(std::span<const uint8_t>) -> Status`, in order, until one is not ok: the
  /// memory itself at once where the host sees it, else copies of at most kPieceBytes.
  template <typename F> Status eachPiece(F f) const;

private:
  static constexpr uint64_t kPieceBytes = 1 << 20;

  std::byte *host_ = nullptr;
  Device *device_ = nullptr; ///< null: the host's own
  uint64_t offset_ = 0;      ///< in the device's arena
  uint64_t size_ = 0;
};

template <typename F> Status MemoryRange::eachPiece(F f) const {
  auto give = [&](const std::byte *bytes, uint64_t size) -> Status {
    return f(std::span(reinterpret_cast<const uint8_t *>(bytes), size_t(size)));
  };
  if (host_)
    return give(host_, size_);
  std::vector<std::byte> copy(size_t(std::min(size_, kPieceBytes)));
  for (uint64_t begin = 0; begin < size_; begin += kPieceBytes) {
    const std::span piece = std::span(copy).first(size_t(std::min(size_ - begin, kPieceBytes)));
    read(begin, piece);
    LSTMC_TRY(give(piece.data(), piece.size()));
  }
  return {};
}

} // namespace lstmc
