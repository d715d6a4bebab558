// Uniform numbers by Philox4x32-10, sixteen counters at a time; compiled once per level.
#pragma once

#include <cstdint>

#include "backends/cpu/runtime/Vector.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

/// out[i] = the number of element first + i (robustness: rule 10): (x >> 8) * 2^-24.
inline void fillUniform(float *out, int64_t count, uint64_t seed, uint64_t first, uint32_t op,
                        uint32_t update) {
  constexpr int kCounters = 16;
  alignas(64) uint32_t c0[kCounters], c1[kCounters], c2[kCounters], c3[kCounters];
  alignas(64) float numbers[4 * kCounters];
  uint64_t block = first / 4;
  auto skip = int64_t(first % 4);
  while (count > 0) {
    for (int i = 0; i < kCounters; ++i) {
      uint64_t counter = block + uint64_t(i);
      c0[i] = uint32_t(counter);
      c1[i] = uint32_t(counter >> 32);
      c2[i] = op;
      c3[i] = update;
    }
    auto k0 = uint32_t(seed), k1 = uint32_t(seed >> 32);
    for (int round = 0; round < 10; ++round) {
      for (int i = 0; i < kCounters; ++i) {
        uint64_t p0 = uint64_t(0xD2511F53u) * c0[i];
        uint64_t p1 = uint64_t(0xCD9E8D57u) * c2[i];
        c0[i] = uint32_t(p1 >> 32) ^ c1[i] ^ k0;
        c1[i] = uint32_t(p1);
        c2[i] = uint32_t(p0 >> 32) ^ c3[i] ^ k1;
        c3[i] = uint32_t(p0);
      }
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    for (int i = 0; i < kCounters; ++i) {
      numbers[4 * i] = float(int32_t(c0[i] >> 8)) * 0x1p-24f;
      numbers[4 * i + 1] = float(int32_t(c1[i] >> 8)) * 0x1p-24f;
      numbers[4 * i + 2] = float(int32_t(c2[i] >> 8)) * 0x1p-24f;
      numbers[4 * i + 3] = float(int32_t(c3[i] >> 8)) * 0x1p-24f;
    }
    int64_t n = 4 * kCounters - skip < count ? 4 * kCounters - skip : count;
    __builtin_memcpy(out, numbers + skip, size_t(n) * sizeof(float));
    out += n;
    count -= n;
    skip = 0;
    block += kCounters;
  }
}

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
