// 64-bit XXH3 of weights and other bytes, to see whether two copies are equal. It gives no
// protection against forgery; base/Sha256.h does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace lstmc {

/// Hash of the bytes in memory, which are little-endian on every machine that lstmc runs on.
uint64_t hashBytes(const void *data, size_t bytes);
/// Another hash function for each seed.
uint64_t hashBytes(const void *data, size_t bytes, uint64_t seed);

/// The same hash for bytes that come in pieces.
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

/// One hash for several hashes; their order counts.
uint64_t combineHashes(std::span<const uint64_t> hashes);

} // namespace lstmc
