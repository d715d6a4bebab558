// Uniform numbers by Philox4x32-10, a vector of counters at a time; compiled once per level.
#pragma once

#include <cstdint>
#include <cstring>

#include "backends/cpu/runtime/Vector.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

/// out[i] = the number of element first + i (docs/numerics.md rule 10): (x >> 8) * 2^-24.
inline void fillUniform(float *out, int64_t count, uint64_t seed, uint64_t first, uint32_t op,
                        uint32_t update) {
  constexpr int kCounters = 32;
  constexpr uint64_t kLow = 0xffffffff;
  alignas(64) uint64_t pairs[2 * kCounters];
  alignas(64) uint32_t words[4 * kCounters];
  alignas(64) float numbers[4 * kCounters];
  uint64_t block = first / 4;
  auto skip = int64_t(first % 4);
  while (count > 0) {
    // Every word is in the low half of 64 bits, and the high half is ignored. A round is then two
    // 32 by 32 bit products without any shuffle.
    for (int i = 0; i < kCounters; ++i) {
      uint64_t counter = block + uint64_t(i);
      uint64_t c0 = counter & kLow, c1 = counter >> 32, c2 = op, c3 = update;
      uint64_t k0 = seed & kLow, k1 = seed >> 32;
#pragma clang loop unroll(full)
      for (int round = 0; round < 10; ++round) {
        uint64_t p0 = uint64_t(0xD2511F53u) * (c0 & kLow);
        uint64_t p1 = uint64_t(0xCD9E8D57u) * (c2 & kLow);
        c0 = (p1 >> 32) ^ c1 ^ k0;
        c1 = p1;
        c2 = (p0 >> 32) ^ c3 ^ k1;
        c3 = p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
      }
      pairs[2 * i] = (c0 & kLow) | c1 << 32;
      pairs[2 * i + 1] = (c2 & kLow) | c3 << 32;
    }
    std::memcpy(words, pairs, sizeof(words));
    for (int i = 0; i < 4 * kCounters; ++i)
      numbers[i] = float(int32_t(words[i] >> 8)) * 0x1p-24f;
    int64_t n = 4 * kCounters - skip < count ? 4 * kCounters - skip : count;
    std::memcpy(out, numbers + skip, size_t(n) * sizeof(float));
    out += n;
    count -= n;
    skip = 0;
    block += kCounters;
  }
}

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
