// The inner product loop of product, rnn_forward and rnn_backward: a few rows times a block of
// packed columns, with the sums in registers.
#pragma once

#include <algorithm>
#include <type_traits>

#include "backends/cpu/runtime/Vector.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

/// Rows of K values come in groups of 16: group g of a row is at row + g * groupStride. A plain row
/// has groupStride 16. A matrix blocked as [K/16][rows][16] has groupStride rows * 16, so that
/// values read by one tile are close together (rows of 4 KB would all map to the same sets of L1).
inline constexpr int64_t kGroup = 16;

/// K values per pass over the rows: with 4 vectors of 16 these are 32 KB of weights, which stay in
/// L1 from tile to tile. Between passes the sums are stored in memory, which does not change their
/// bits.
inline constexpr int64_t kDepth = 128;

/// Most rows in a pass.
inline constexpr int64_t kPassRows = 48;

/// Rows in a tile of V vectors: as many sums as registers hold besides V weights and one broadcast.
template <int V> inline constexpr int kTileRows = kWidth == 16 ? 6 : V > 2 ? 3 : 6;

/// Adjacent columns in a matrix packed with G gates: all gates of one vector of units. Vector v of
/// step k is at w + k * kStride + v * vectorStride.
template <int G> struct GateBlock {
  const float *w;
  static constexpr int64_t kStride = G * kPanel;
  static constexpr int64_t vectorStride = kPanel; // NOLINT: a field of PanelBlock
  GateBlock from(int64_t k) const { return {w + k * kStride}; }
};

/// The same in a matrix packed with gates = 0: vectors of one panel, or of adjacent panels.
struct PanelBlock {
  const float *w;
  static constexpr int64_t kStride = kPanel;
  int64_t vectorStride;
  PanelBlock from(int64_t k) const { return {w + k * kStride, vectorStride}; }
};

/// sums[m][v] += rows[m][k] * w[k][v] for k ascending, one fma each. `soon`: a column of weights to
/// prefetch, one vector per k.
template <int M, int V, typename Block>
LSTMC_INLINE void multiplyTile(Vector (&sums)[M][V], const float *const (&rows)[M],
                               int64_t groupStride, const Block &block, int64_t k,
                               const float *soon) {
  const float *w = block.w;
  const int64_t vectorStride = block.vectorStride;
  int64_t at = 0;
  auto step = [&](int64_t offset) LSTMC_LAMBDA {
    Vector weights[V];
#pragma unroll
    for (int v = 0; v < V; ++v)
      weights[v] = Vector::load(w + v * vectorStride);
    w += Block::kStride;
    if constexpr (M > 1) { // a single row is limited by memory anyway
      __builtin_prefetch(soon, 0, 2);
      soon += Block::kStride;
    }
#pragma unroll
    for (int m = 0; m < M; ++m) {
      Vector x = Vector::broadcast(rows[m][offset]);
#pragma unroll
      for (int v = 0; v < V; ++v)
        sums[m][v] = fma(x, weights[v], sums[m][v]);
    }
  };
  for (; k >= kGroup; k -= kGroup, at += groupStride)
#pragma unroll 4
    for (int i = 0; i < kGroup; ++i)
      step(at + i);
  for (int64_t i = 0; i < k; ++i)
    step(at + i);
}

/// Calls f(std::integral_constant<int, m>) for 1 <= m <= Max.
template <int Max, typename F> LSTMC_INLINE void withCount(int64_t m, F f) {
  static_assert(Max <= 6);
#define LSTMC_COUNT(N)                                                                             \
  case N:                                                                                          \
    if constexpr (N <= Max)                                                                        \
      f(std::integral_constant<int, N>{});                                                         \
    break;
  switch (m) {
    LSTMC_COUNT(1)
    LSTMC_COUNT(2) LSTMC_COUNT(3) LSTMC_COUNT(4) LSTMC_COUNT(5) LSTMC_COUNT(6) default : break;
  }
#undef LSTMC_COUNT
}

/// Where the results of a block go, and what is added to the sums at the end.
template <int V> struct BlockOutput {
  int64_t vectorStride; ///< vector v of a row lies at out + v * vectorStride
  Vector::Mask mask[V]; ///< lanes that exist in the result
  bool whole;           ///< all lanes exist
  bool hasBias = false;
  Vector bias[V];
};

/// out[r] = rows[r] times the block (+ bias) for `count` <= kPassRows rows. With `more`, the sums
/// start from the values in `out`.
template <int V, typename Block>
inline void multiplyBlock(const float *const *rows, int64_t groupStride, float *const *out,
                          int64_t count, Block block, int64_t k, const BlockOutput<V> &output,
                          bool more = false, bool last = true) {
  const int64_t tiles = (count + kTileRows<V> - 1) / kTileRows<V>;
  const int64_t passes = std::max<int64_t>((k + kDepth - 1) / kDepth, 1);
  const int64_t whole = roundUp((k + passes - 1) / passes, kGroup);
  for (int64_t k0 = 0; k0 < k || k0 == 0; k0 += std::max(whole, kGroup)) {
    const int64_t depth = std::min(whole, k - k0);
    const bool goOn = more || k0 > 0, finish = last && k0 + whole >= k;
    const Block part = block.from(k0);
    const int64_t offset = k0 / kGroup * groupStride;
    for (int64_t tile = 0, r = 0; tile < tiles; ++tile) {
      // The weights of the next pass come after these in memory. The tiles divide the prefetching
      // of these vectors. With few tiles, each prefetches one vector only; the processor fetches
      // the neighbouring line itself, because it fetches lines in pairs.
      const int64_t vector = tiles < V ? tile * V / tiles : tile;
      const float *soon =
          part.w + (vector < V ? whole * Block::kStride + vector * part.vectorStride : 0);
      const int64_t here = (count - r + tiles - tile - 1) / (tiles - tile);
      withCount<kTileRows<V>>(here, [&](auto m) LSTMC_LAMBDA {
        constexpr int M = decltype(m)::value;
        Vector sums[M][V];
        const float *from[M];
#pragma unroll
        for (int i = 0; i < M; ++i) {
          from[i] = rows[r + i] + offset;
#pragma unroll
          for (int v = 0; v < V; ++v)
            sums[i][v] = !goOn ? Vector::zero()
                         : output.whole
                             ? Vector::load(out[r + i] + v * output.vectorStride)
                             : Vector::load(out[r + i] + v * output.vectorStride, output.mask[v]);
        }
        multiplyTile(sums, from, groupStride, part, depth, soon);
#pragma unroll
        for (int i = 0; i < M; ++i)
#pragma unroll
          for (int v = 0; v < V; ++v) {
            Vector sum = sums[i][v];
            if (finish && output.hasBias)
              sum = sum + output.bias[v];
            float *to = out[r + i] + v * output.vectorStride;
            if (output.whole)
              sum.store(to);
            else
              sum.store(to, output.mask[v]);
          }
      });
      r += here;
    }
  }
}

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
