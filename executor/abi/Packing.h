// Layouts and sizes of packed weights, trees and shards, which the compiler plans and the kernels
// fill. Sizes of scratch are in abi/Scratch.h.
#pragma once

#include <bit>
#include <cstdint>

#include "executor/abi/Gate.h"

namespace lstmc {

/// Columns in a block of a packed matrix: one AVX-512 register of f32, two of AVX2. Part of the
/// package format.
inline constexpr int64_t kPanel = 16;

/// Alignment of every buffer in an arena, in bytes.
inline constexpr int64_t kAlignment = 64;

/// A norm adds the squares of this many elements at a time (docs/numerics.md rule 9). Slices of an
/// array end between such tiles.
inline constexpr int64_t kNormTile = 4096;

// Each size is written once, as a template over the type that counts: int64_t where the extents are
// known to be valid (compiler, kernels), SafeSize of executor/base where they come from a file (the
// check of packages).

template <typename Size> constexpr Size roundUp(Size n, int64_t to) {
  return (n + Size(to - 1)) / Size(to) * Size(to);
}

/// Elements of one packed [N, K] matrix.
///
/// gates = 0: [ceil(N/16)][K][16], element (n, k) at (n/16, k, n%16).
/// gates = G, N = G*H: [ceil(H/16)][K][G][16], element (g*H + u, k) at (u/16, k, g, u%16): one pass
/// over K delivers all gates of 16 units. Columns beyond N (units beyond H) are 0. K is never
/// padded.
template <typename Size> constexpr Size packedElements(Size n, Size k, int64_t gates) {
  Size g(gates == 0 ? 1 : gates);
  return roundUp(n / g, kPanel) * g * k;
}

/// Most partial sums that a walk over `leaves` of the fixed tree keeps at one time.
constexpr int64_t treeLevels(int64_t leaves) { return std::bit_width(uint64_t(leaves)) + 1; }

/// initialise of kind Orthogonal takes kOrthogonalBlock vectors at a time, and sums products over
/// tiles of kOrthogonalTile elements.
inline constexpr int64_t kOrthogonalBlock = 64;
inline constexpr int64_t kOrthogonalTile = 1024;

/// First row of shard j of a batch: docs/numerics.md rule 3.
constexpr int64_t shardBegin(int64_t batch, int64_t shards, int64_t j) {
  return j * batch / shards;
}

/// The shards that a launch sums: `count` shards from `first`, of a batch of `batch` rows. Its
/// operands hold the rows of these shards only.
struct ShardRange {
  int64_t batch, shards, first, count;

  static constexpr ShardRange all(int64_t batch, int64_t shards) {
    return {batch, shards, 0, shards};
  }

  /// The row of the operands at which shard j of the range begins, 0 <= j <= count.
  constexpr int64_t begin(int64_t j) const {
    return shardBegin(batch, shards, first + j) - shardBegin(batch, shards, first);
  }
  constexpr int64_t rows() const { return begin(count); }
};

} // namespace lstmc
