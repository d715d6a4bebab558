// A block's part of a product by tensor cores: tiles of both operands go through shared memory, as
// f32, and are rounded on their way into the registers.
#pragma once

#include "backends/cuda/kernels/TensorCores.h"

namespace lstmc::gpu {

/// Rows and columns of the result that a block has, terms of a sum that are in shared memory at
/// once, and threads: four warps with 32 rows and 32 columns each.
inline constexpr int kTile = 64, kTileDepth = 32, kTileThreads = 128;

/// A tile of an operand has kTile lines of kTileDepth numbers. Its places are so far apart that the
/// lanes of a warp read from different banks.
enum class Order { LinesFirst, DepthFirst };
inline constexpr int kLineStride = kTileDepth + 4, kDepthStride = kTile + 4;
inline constexpr int kTileNumbers = kTile * kLineStride;
static_assert(kTileDepth * kDepthStride <= kTileNumbers);

/// Tiles of a and b, twice: while one pair is multiplied, the next is copied.
inline constexpr int kTilesSharedBytes = 4 * kTileNumbers * int(sizeof(float));

inline constexpr int kQuad = 4;
struct alignas(16) Quad {
  float numbers[kQuad];
};

struct Tile {
  int number; ///< of the block's four

  LSTMC_DEVICE Shared<float> numbers() const {
    return shared<float>(number * kTileNumbers * int(sizeof(float)), kTileNumbers);
  }
  LSTMC_DEVICE Shared<Quad> quads() const {
    return shared<Quad>(number * kTileNumbers * int(sizeof(float)), kTileNumbers / 4);
  }
};

template <Order order> constexpr LSTMC_DEVICE int placeIn(int line, int k) {
  return order == Order::LinesFirst ? line * kLineStride + k : k * kDepthStride + line;
}

/// Whether numbers from here on may be copied four at a time.
LSTMC_DEVICE bool alignedQuads(const void *data) { return uintptr_t(data) % sizeof(Quad) == 0; }

/// No offset: strides may be negative, and so offsets.
inline constexpr int64_t kNowhere = INT64_MIN;

/// Begins to copy a tile. `offset(line, k)` is where a number is in `from`, or kNowhere, which
/// counts as 0. With `quads`, four neighbours of the order's inner axis, from a
/// multiple of 4 on, are neighbours in memory, from a multiple of 4 on.
template <Order order, typename Offset>
LSTMC_DEVICE void copyTile(Tile to, Global<const float> from, bool quads, Offset offset) {
  constexpr bool kLines = order == Order::LinesFirst;
  constexpr int kInner = kLines ? kTileDepth : kTile;
  auto offsetOf = [&](int outer, int inner) {
    return kLines ? offset(outer, inner) : offset(inner, outer);
  };
  auto placeOf = [&](int outer, int inner) {
    return kLines ? placeIn<order>(outer, inner) : placeIn<order>(inner, outer);
  };
  const Shared<float> numbers = to.numbers();
  auto copyOne = [&](int outer, int inner) {
    const int64_t at = offsetOf(outer, inner);
    if (at != kNowhere)
      copyAsync(numbers, placeOf(outer, inner), from, at);
    else
      numbers.store(placeOf(outer, inner), 0);
  };
  if (!quads) {
    for (int i = threadIndex(); i < kTile * kTileDepth; i += blockThreads())
      copyOne(i / kInner, i % kInner);
    return;
  }
  const Global<const Quad> all = {reinterpret_cast<const Quad *>(from.data)};
  for (int i = threadIndex(); i < kTile * kTileDepth / 4; i += blockThreads()) {
    const int outer = i / (kInner / 4), inner = i % (kInner / 4) * 4;
    const int64_t first = offsetOf(outer, inner);
    if (first != kNowhere && offsetOf(outer, inner + 3) != kNowhere)
      copyAsync(to.quads(), placeOf(outer, inner) / 4, all, first / 4);
    else
      for (int e = 0; e < 4; ++e)
        copyOne(outer, inner + e);
  }
}

/// Begins to copy the first `wanted` of a quad's numbers, which are so far `apart`; the others
/// become 0, so that a thread may read the whole quad. `whole`: a quad is one in memory too.
LSTMC_DEVICE void copyQuad(Tile to, int place, Global<const float> from, int64_t at, int64_t apart,
                           int wanted, bool whole) {
  if (whole && wanted >= kQuad) {
    const Global<const Quad> all = {reinterpret_cast<const Quad *>(from.data)};
    copyAsync(to.quads(), place / kQuad, all, at / kQuad);
    return;
  }
  for (int e = 0; e < kQuad; ++e)
    if (e < wanted)
      copyAsync(to.numbers(), place + e, from, at + e * apart);
    else
      to.numbers().store(place + e, 0);
}

/// Goes through `depth` terms tile by tile: `copy(a, b, begin)` begins to copy those from `begin`
/// on, and `add(a, b, left)` adds them; `left` is how many there are from there on. All threads of
/// the block call it.
template <typename Copy, typename Add>
LSTMC_DEVICE void throughTiles(int64_t depth, Copy copy, Add add) {
  if (depth > 0)
    copy(Tile{0}, Tile{1}, int64_t(0));
  int now = 0;
  for (int64_t begin = 0; begin < depth; begin += kTileDepth, now = 2 - now) {
    waitForCopies();
    syncThreads(); // the tiles are there, and nobody reads the others any more
    if (begin + kTileDepth < depth)
      copy(Tile{2 - now}, Tile{3 - now}, begin + kTileDepth);
    add(Tile{now}, Tile{now + 1}, depth - begin);
  }
}

/// The kTile x kTile sums of a block; a thread has 32 of them.
template <typename Rule> struct TileSum {
  static constexpr int kRowsOfWarp = 2, kColumnsOfWarp = 4, kCount = 32;
  float c[kRowsOfWarp][kColumnsOfWarp][4];

  static LSTMC_DEVICE int firstRow() { return warpIndex() / 2 * 32; }
  static LSTMC_DEVICE int firstColumn() { return warpIndex() % 2 * 32; }
  static LSTMC_DEVICE int group() { return laneIndex() / 4; }
  static LSTMC_DEVICE int place() { return laneIndex() % 4; }

  /// Calls `visit(row, column, number)` for the thread's numbers.
  template <typename Visit> LSTMC_DEVICE void forEach(Visit visit) {
    LSTMC_UNROLL
    for (int m = 0; m < kRowsOfWarp; ++m)
      LSTMC_UNROLL
    for (int n = 0; n < kColumnsOfWarp; ++n)
      LSTMC_UNROLL
    for (int i = 0; i < 4; ++i)
      visit(firstRow() + m * 16 + group() + i / 2 * 8, firstColumn() + n * 8 + 2 * place() + i % 2,
            c[m][n][i]);
  }

  template <Order order>
  static LSTMC_DEVICE uint32_t word(const Shared<float> &numbers, int line, int k) {
    return Rule::word(numbers.load(placeIn<order>(line, k)),
                      Rule::kPack > 1 ? numbers.load(placeIn<order>(line, k + 1)) : 0);
  }

  /// Adds the first `count` terms of two tiles, the second of them DepthFirst; others are 0.
  template <Order order> LSTMC_DEVICE void add(Tile aTile, Tile bTile, int64_t count) {
    const Shared<float> aNumbers = aTile.numbers(), bNumbers = bTile.numbers();
    for (int first = 0; first < kTileDepth; first += Rule::kDepth) {
      if (first >= count)
        break;
      uint32_t b[kColumnsOfWarp][2];
      LSTMC_UNROLL
      for (int n = 0; n < kColumnsOfWarp; ++n)
        LSTMC_UNROLL
      for (int i = 0; i < 2; ++i)
        b[n][i] = word<Order::DepthFirst>(bNumbers, firstColumn() + n * 8 + group(),
                                          first + (place() + i * 4) * Rule::kPack);
      LSTMC_UNROLL
      for (int m = 0; m < kRowsOfWarp; ++m) {
        uint32_t a[4];
        LSTMC_UNROLL
        for (int i = 0; i < 4; ++i)
          a[i] = word<order>(aNumbers, firstRow() + m * 16 + group() + i % 2 * 8,
                             first + (place() + i / 2 * 4) * Rule::kPack);
        LSTMC_UNROLL
        for (int n = 0; n < kColumnsOfWarp; ++n)
          Rule::multiply(c[m][n], a, b[n]);
      }
    }
  }

  LSTMC_DEVICE float *numbers() { return &c[0][0][0]; }
};

} // namespace lstmc::gpu
