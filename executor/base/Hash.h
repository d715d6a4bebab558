// 64-bit XXH3 of weights and other bytes, for telling whether two copies are equal (not against
// malice: that is base/Sha256.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lstmc {

/// Of the bytes as they lie in memory: little-endian on every machine that lstmc runs on.
uint64_t hashBytes(const void *data, size_t bytes);
/// Another function for each seed.
uint64_t hashBytes(const void *data, size_t bytes, uint64_t seed);

/// The same of bytes that come in pieces.
uint64_t hashBytes(std::span<const std::span<const uint8_t>> pieces);

/// One number for several hashes, which depends on their order.
uint64_t combineHashes(std::span<const uint64_t> hashes);

} // namespace lstmc
