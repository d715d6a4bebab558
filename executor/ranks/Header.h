// The header of every message between processes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "executor/abi/DType.h"
#include "executor/package/MessageMemory.h"

namespace lstmc::ranks {

/// 64 bytes, little-endian, before the value. Sender and receiver each make it from their plan, so
/// a field that differs shows that their plans differ.
struct Header {
  static constexpr size_t kBytes = package::kMessageHeaderBytes;
  static constexpr uint16_t kVersion = 1;

  std::array<uint8_t, 16> program{}; ///< first half of the package's SHA-256
  uint32_t op = 0;                   ///< of the message: its number among all of the package
  uint32_t from = 0, to = 0;         ///< devices
  uint64_t sequence = 0;             ///< messages before it between the two devices
  uint64_t count = 0;                ///< elements
  DType dtype = DType::F32;

  /// With the checksums of the payload and of itself.
  void write(std::span<std::byte> into, uint32_t payloadSum) const;
  void write(std::span<std::byte> into, std::span<const std::byte> payload) const;
  /// The first field of `found` that is not this header's, with both values: "op: found 13, want
  /// 12"; none where all are as they should be. Looks at all but the payload's checksum.
  std::optional<std::string> differs(std::span<const std::byte> found) const;
  /// And at that.
  std::optional<std::string> differs(std::span<const std::byte> found,
                                     std::span<const std::byte> payload) const;
};

/// What is wrong with a payload of that checksum, by the header that came with it.
std::optional<std::string> payloadDiffers(std::span<const std::byte> header, uint32_t payloadSum);

/// The op of a header whose other fields have not been checked.
uint32_t opOf(std::span<const std::byte> header);

/// The first 32 hex digits as bytes.
std::array<uint8_t, 16> firstHalf(const std::string &hexDigest);

/// CRC-32C (Castagnoli).
uint32_t checksum(std::span<const std::byte> bytes);
/// The same, of bytes that are copied meanwhile: they are read once.
uint32_t copyWithChecksum(std::span<const std::byte> from, std::span<std::byte> to);

} // namespace lstmc::ranks
