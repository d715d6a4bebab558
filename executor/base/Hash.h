// 64-bit XXH3 of weights and other bytes, for telling whether two copies are equal (not against
// malice: that is base/Sha256.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace lstmc {

/// Of the bytes as they lie in memory: little-endian on every machine that lstmc runs on.
uint64_t hashBytes(const void *data, size_t bytes);
/// Another function for each seed.
uint64_t hashBytes(const void *data, size_t bytes, uint64_t seed);

/// hashBytes of bytes that come in pieces.
class StreamedHash {
public:
  StreamedHash();
  ~StreamedHash();
  void update(std::span<const uint8_t> piece);
  uint64_t finish() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// One number for several hashes, which depends on their order.
uint64_t combineHashes(std::span<const uint64_t> hashes);

} // namespace lstmc
