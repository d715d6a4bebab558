#include "executor/base/Hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace lstmc {

uint64_t hashBytes(const void *data, size_t bytes) { return XXH3_64bits(data, bytes); }

uint64_t hashBytes(const void *data, size_t bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(data, bytes, seed);
}

struct StreamedHash::State {
  XXH3_state_t xxh;
};

StreamedHash::StreamedHash() : state_(std::make_unique<State>()) {
  XXH3_64bits_reset(&state_->xxh);
}
StreamedHash::~StreamedHash() = default;

void StreamedHash::update(std::span<const uint8_t> piece) {
  XXH3_64bits_update(&state_->xxh, piece.data(), piece.size());
}

uint64_t StreamedHash::finish() const { return XXH3_64bits_digest(&state_->xxh); }

uint64_t combineHashes(std::span<const uint64_t> hashes) {
  return XXH3_64bits(hashes.data(), hashes.size_bytes());
}

} // namespace lstmc
