#include "executor/base/Hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace lstmc {

uint64_t hashBytes(const void *data, size_t bytes) { return XXH3_64bits(data, bytes); }

uint64_t hashBytes(const void *data, size_t bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(data, bytes, seed);
}

uint64_t combineHashes(std::span<const uint64_t> hashes) {
  return XXH3_64bits(hashes.data(), hashes.size_bytes());
}

} // namespace lstmc
