#include "executor/base/Hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace lstmc {

uint64_t hashBytes(const void *data, size_t bytes) { return XXH3_64bits(data, bytes); }

uint64_t hashBytes(const void *data, size_t bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(data, bytes, seed);
}

uint64_t hashBytes(std::span<const std::span<const uint8_t>> pieces) {
  if (pieces.size() == 1)
    return hashBytes(pieces[0].data(), pieces[0].size());
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  for (std::span<const uint8_t> piece : pieces)
    XXH3_64bits_update(&state, piece.data(), piece.size());
  return XXH3_64bits_digest(&state);
}

uint64_t combineHashes(std::span<const uint64_t> hashes) {
  return XXH3_64bits(hashes.data(), hashes.size_bytes());
}

} // namespace lstmc
