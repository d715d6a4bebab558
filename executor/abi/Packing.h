// Sizes and orders that the compiler plans and the kernels fill.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "executor/abi/Gate.h"

namespace lstmc {

/// Columns in a block of a packed matrix: one AVX-512 register of f32, two of AVX2. Part of the
/// package format.
inline constexpr int64_t kPanel = 16;

/// Every buffer of an arena starts on this border, in bytes.
inline constexpr int64_t kAlignment = 64;

/// Elements whose squares a norm adds by themselves (robustness rule 9); slices of an array end
/// between such tiles.
inline constexpr int64_t kNormTile = 4096;

constexpr int64_t roundUp(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/// Elements of one packed [N, K] matrix.
///
/// gates = 0: [ceil(N/16)][K][16], element (n, k) at (n/16, k, n%16).
/// gates = G, N = G*H: [ceil(H/16)][K][G][16], element (g*H + u, k) at (u/16, k, g, u%16): one pass
/// over K delivers all gates of 16 units. Columns beyond N (units beyond H) are 0. K is never
/// padded.
constexpr int64_t packedElements(int64_t n, int64_t k, int64_t gates) {
  int64_t g = gates == 0 ? 1 : gates;
  return roundUp(n / g, kPanel) * g * k;
}

/// Levels of partial sums that a walk over `leaves` of the fixed tree keeps alive.
constexpr int64_t treeLevels(int64_t leaves) { return std::bit_width(uint64_t(leaves)) + 1; }

/// Scratch of weight_gradient with an embedding among its uses: partial sums
/// [levels][rows][columns].
constexpr int64_t gradientScratchBytes(int64_t rows, int64_t columns, int64_t leaves,
                                       int64_t elementBytes) {
  return treeLevels(leaves) * rows * columns * elementBytes;
}

/// Scratch of rnn_forward: projections of a chunk [chunk, B, G*Hpad], h [2, B, Hpad], c [B, Hpad];
/// of rnn_backward: gradients of two steps' gates [2, B, G*Hpad], dh and dc [B, Hpad]; and lists of
/// rows. Hpad is H rounded up to the panel.
constexpr int64_t rnnScratchBytes(RnnMode mode, int64_t batch, int64_t units, int64_t chunk,
                                  int64_t elementBytes) {
  int64_t padded = roundUp(units, kPanel);
  return (chunk * gateCount(mode) + 8) * batch * padded * elementBytes + 4096;
}

/// First row of shard j of a batch: robustness rule 3.
constexpr int64_t shardBegin(int64_t batch, int64_t shards, int64_t j) {
  return j * batch / shards;
}

/// The shards that a launch sums: `count` of them from `first` on, of a batch of `batch` rows. Its
/// operands hold the rows of these shards and no others.
struct ShardRange {
  int64_t batch, shards, first, count;

  /// As the ints of such launches begin: "batch shards first count".
  static constexpr ShardRange of(std::span<const int64_t> ints) {
    return {ints[0], ints[1], ints[2], ints[3]};
  }
  constexpr std::array<int64_t, 4> ints() const { return {batch, shards, first, count}; }

  /// The operands' row at which the range's shard j begins, 0 <= j <= count.
  constexpr int64_t begin(int64_t j) const {
    return shardBegin(batch, shards, first + j) - shardBegin(batch, shards, first);
  }
  constexpr int64_t rows() const { return begin(count); }
};

} // namespace lstmc
