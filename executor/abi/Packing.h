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

// Sizes that follow from extents are written here once, over the type that counts: int64_t where
// the extents are known to be sound (compiler, kernels), SafeSize of executor/base where they are a
// file's (the check of packages).

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

/// Levels of partial sums that a walk over `leaves` of the fixed tree keeps alive.
constexpr int64_t treeLevels(int64_t leaves) { return std::bit_width(uint64_t(leaves)) + 1; }

/// Scratch of weight_gradient with an embedding among its uses: partial sums
/// [levels][rows][columns].
template <typename Size>
constexpr Size gradientScratchBytes(Size rows, Size columns, int64_t leaves, int64_t elementBytes) {
  return Size(treeLevels(leaves)) * rows * columns * Size(elementBytes);
}

/// The scratch of rnn_forward: where its parts begin, in elements, and its bytes. From 0 on are the
/// projections of a chunk [chunk, B, G*Hpad]; Hpad is H rounded up to the panel.
template <typename Size> struct RnnForwardScratch {
  Size h, nextH, c; ///< [B, Hpad] each
  Size lists;       ///< of rows: 5*B*Hpad numbers of 4 bytes
  Size sweeps;      ///< 4,096 bytes
  Size bytes;
};
template <typename Size>
constexpr RnnForwardScratch<Size> rnnForwardScratch(RnnMode mode, Size batch, Size units,
                                                    Size chunk, int64_t elementBytes) {
  Size state = batch * roundUp(units, kPanel), h = chunk * Size(gateCount(mode)) * state;
  Size lists = h + Size(3) * state, sweeps = lists + Size(5) * state;
  return {h,     h + state, h + Size(2) * state,
          lists, sweeps,    sweeps * Size(elementBytes) + Size(4096)};
}

/// The same of rnn_backward. From 0 on are the gradients of a step's gates [B, G*Hpad].
template <typename Size> struct RnnBackwardScratch {
  Size next;   ///< those of the other step
  Size dh, dc; ///< [B, Hpad] each
  Size list;   ///< of rows: B*Hpad numbers of 4 bytes
  Size bytes;
};
template <typename Size>
constexpr RnnBackwardScratch<Size> rnnBackwardScratch(RnnMode mode, Size batch, Size units,
                                                      int64_t elementBytes) {
  Size state = batch * roundUp(units, kPanel), gates = Size(gateCount(mode)) * state;
  Size dh = gates + gates, list = dh + Size(2) * state;
  return {gates, dh, dh + state, list, (list + state) * Size(elementBytes)};
}

/// initialise of kind Orthogonal takes so many vectors at a time, and sums the products of so many
/// of their elements by themselves.
inline constexpr int64_t kOrthogonalBlock = 64;
inline constexpr int64_t kOrthogonalTile = 1024;

/// Its scratch for a matrix of `rows` rows: where parts begin, and bytes. From 0 on are the sums of
/// products in f64, [count, block], where count is the fewer of rows and columns.
template <typename Size> struct OrthogonalScratch {
  Size scales; ///< f64 [block], and what the workers tell one another
  Size matrix; ///< where there are more rows than columns: [columns, rows] of the matrix's type
  Size bytes;
};
template <typename Size>
constexpr OrthogonalScratch<Size> orthogonalScratch(int64_t rows, int64_t columns,
                                                    int64_t elementBytes) {
  const int64_t count = rows < columns ? rows : columns;
  const int64_t block = count < kOrthogonalBlock ? count : kOrthogonalBlock;
  const Size scales = Size(count) * Size(8 * block);
  const Size matrix = roundUp(scales + Size(8 * (block + 1)), kAlignment);
  return {scales, matrix,
          rows > columns ? matrix + Size(rows) * Size(columns) * Size(elementBytes) : matrix};
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
