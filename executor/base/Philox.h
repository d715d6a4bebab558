// Random numbers as a function of where they are used: Philox4x32-10, docs/numerics.md rule 10.
#pragma once

#include <array>
#include <cstdint>

namespace lstmc {

using PhiloxBlock = std::array<uint32_t, 4>;

/// Four random words for a counter and a key.
///
/// Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11: ten
/// rounds of two 32x32-bit products, the key stepped by the golden ratio and sqrt(3) - 1.
constexpr PhiloxBlock philox4x32(PhiloxBlock counter, std::array<uint32_t, 2> key) {
  constexpr uint32_t kMultiply0 = 0xD2511F53, kMultiply1 = 0xCD9E8D57;
  constexpr uint32_t kStep0 = 0x9E3779B9, kStep1 = 0xBB67AE85;
  for (int round = 0; round < 10; ++round) {
    uint64_t product0 = uint64_t(kMultiply0) * counter[0];
    uint64_t product1 = uint64_t(kMultiply1) * counter[2];
    counter = {uint32_t(product1 >> 32) ^ counter[1] ^ key[0], uint32_t(product1),
               uint32_t(product0 >> 32) ^ counter[3] ^ key[1], uint32_t(product0)};
    key = {key[0] + kStep0, key[1] + kStep1};
  }
  return counter;
}

/// The words for elements 4*block to 4*block + 3 of op `ordinal` at `update`.
constexpr PhiloxBlock randomBlock(uint64_t seed, uint64_t block, uint32_t ordinal,
                                  uint32_t update) {
  return philox4x32({uint32_t(block), uint32_t(block >> 32), ordinal, update},
                    {uint32_t(seed), uint32_t(seed >> 32)});
}

/// The word for one element, given by its row-major index in the whole logical tensor.
constexpr uint32_t randomWord(uint64_t seed, uint64_t element, uint32_t ordinal, uint32_t update) {
  return randomBlock(seed, element / 4, ordinal, update)[element % 4];
}

/// A number in [0, 1): a multiple of 2^-24, exact in f32 and f64.
constexpr double uniformFromWord(uint32_t word) { return (word >> 8) * 0x1p-24; }

constexpr double randomUniform(uint64_t seed, uint64_t element, uint32_t ordinal, uint32_t update) {
  return uniformFromWord(randomWord(seed, element, ordinal, update));
}

} // namespace lstmc
