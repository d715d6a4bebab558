// The kernel weight_gradient: dw = sum of dy^T x over the rows of all uses.
//
// Workers divide dw into blocks. For a block, all shards of the launch are processed in turn. The
// sum over a shard stays in one piece of memory: rows are packed pass by pass and multiplied with
// the sums in registers. The pieces of the shards are added by the tree, so no shard's gradient is
// ever stored as a whole. If a use is an embedding, the pieces are in the launch's scratch and have
// all rows of a range of columns; if all are, only rows that a shard has an index of are stored and
// added. A sum that goes on from `begin` starts with it in the piece.
#include <algorithm>

#include "backends/cpu/runtime/KernelTable.h"
#include "backends/cpu/runtime/Lengths.h"
#include "backends/cpu/runtime/Shards.h"
#include "backends/cpu/runtime/Tile.h"
#include "executor/abi/Packing.h"
#include "executor/device/StopFlag.h"
#include "executor/device/WorkerMemory.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

namespace {

constexpr int kMaxVectors = 4;
constexpr int64_t kTileN = kWidth == 16 ? 6 : 3; ///< rows of dw in a tile
constexpr int64_t kGroupN = 8;                   ///< space for a tile's rows in the packed dy
constexpr int64_t kPassLength = 128; ///< rows of the batch in a pass: x of a tile takes 32 KB
constexpr int64_t kPieceColumns = 256;
constexpr int64_t kPieceElements = 192 * 192;
constexpr int64_t kPieceRows = 288; ///< most rows of a piece of any width
constexpr int kMaxPieces = 64;
constexpr int kOwnPieces = 4;
constexpr int64_t kMarkWords = 32768; ///< for the marks of all pieces of a launch: 256 KB

/// The sum for a block of dw while it is computed.
struct Piece {
  float *data;
  int64_t stride;
  uint64_t *marks = nullptr; ///< a bit per row: those without it are +0, and not stored; null: none

  bool stores(int64_t row) const { return !marks || (marks[row / 64] >> (row % 64) & 1); }
};

/// Part of dw: rows [n0, n1), columns [k0, k1).
struct Region {
  int64_t n0, n1, k0, k1;
};

/// Pieces of left siblings in the tree, which are added to a piece when its shard is complete.
struct Merges {
  Piece *pieces[64];
  int count = 0;
};

/// dw[n][k] (+)= sum over r of dy[r][n] x[r][k]. dy is packed with 8 floats a row, x with V vectors
/// a row. The tile begins `offset` elements into the piece, and into those of `merges` if given.
template <int V>
LSTMC_INLINE void gradientTile(const float *dy, const float *x, int64_t rows, const Piece &piece,
                               int64_t offset, bool fresh, const Merges *merges) {
  const int64_t stride = piece.stride;
  float *out = piece.data + offset;
  Vector sums[kTileN][V];
#pragma unroll
  for (int m = 0; m < kTileN; ++m)
#pragma unroll
    for (int v = 0; v < V; ++v)
      sums[m][v] = fresh ? Vector::zero() : Vector::load(out + m * stride + v * kWidth);
#pragma unroll 4
  for (int64_t r = 0; r < rows; ++r) {
    Vector columns[V];
#pragma unroll
    for (int v = 0; v < V; ++v)
      columns[v] = Vector::load(x + (r * V + v) * kWidth);
#pragma unroll
    for (int m = 0; m < kTileN; ++m) {
      Vector factor = Vector::broadcast(dy[r * kGroupN + m]);
#pragma unroll
      for (int v = 0; v < V; ++v)
        sums[m][v] = fma(factor, columns[v], sums[m][v]);
    }
  }
  for (int i = 0; merges && i < merges->count; ++i) {
    const float *left = merges->pieces[i]->data + offset;
#pragma unroll
    for (int m = 0; m < kTileN; ++m)
#pragma unroll
      for (int v = 0; v < V; ++v)
        sums[m][v] = Vector::load(left + m * stride + v * kWidth) + sums[m][v];
  }
#pragma unroll
  for (int m = 0; m < kTileN; ++m)
#pragma unroll
    for (int v = 0; v < V; ++v)
      sums[m][v].store(out + m * stride + v * kWidth);
}

/// Memory for the packed rows of a pass.
struct PassBuffers {
  alignas(64) float dy[kPassLength * (kPieceRows / kTileN + 1) * kGroupN];
  alignas(64) float x[kPassLength * (kPieceColumns + kMaxVectors * kWidth)];
};

/// The worker's own memory, where pieces are in it.
struct PiecesRoom {
  alignas(64) float pieces[kOwnPieces *
                           (kPieceElements + kTileN * kPieceColumns + kPieceRows * kWidth)];
  PassBuffers buffers;
};
/// The same where they are in the launch's scratch.
struct MarksRoom {
  uint64_t marks[kMarkWords];
  alignas(64) float part[kPieceElements];
  PassBuffers buffers;
};
static_assert(sizeof(PiecesRoom) <= kWorkerBytes && sizeof(MarksRoom) <= kWorkerBytes);

/// Copies `count` strided values to `to` and fills the rest of `room` places with 0.
LSTMC_INLINE void copyRow(const float *from, int64_t stride, int64_t count, float *to,
                          int64_t room) {
  int64_t i = 0;
  if (stride == 1) {
    for (; i + kWidth <= count; i += kWidth)
      Vector::load(from + i).store(to + i);
    if (i < count) {
      const Vector::Mask some = Vector::firstLanes(count - i);
      Vector::load(from + i, some).store(to + i, some);
      i = count;
    }
  }
  for (; i < count; ++i)
    to[i] = from[i * stride];
  for (; i < room; ++i)
    to[i] = 0.0f;
}

/// The tiles for a range of `vectors` columns: at most 4 vectors each, evenly spread.
struct ColumnTiles {
  explicit ColumnTiles(int64_t columns)
      : vectors((columns + kWidth - 1) / kWidth), tiles((vectors + kMaxVectors - 1) / kMaxVectors) {
  }
  int64_t begin(int64_t tile) const { return vectors * tile / tiles; }
  int64_t vectors, tiles;
};

/// Puts the rows of dy of one group side by side: kTileN values in kGroupN places, with 0 for
/// values from `count` on.
LSTMC_INLINE void packGroup(const float *from, int64_t stride, int64_t count, float *to) {
  if (stride == 1 && count >= kGroupN) // values copied beyond kTileN are never read
    return void(__builtin_memcpy(to, from, kGroupN * sizeof(float)));
  for (int64_t i = 0; i < kTileN; ++i)
    to[i] = i < count ? from[i * stride] : 0.0f;
}

/// Prefetches a row that will be packed soon: rows are far apart, so the processor does not
/// prefetch them itself.
LSTMC_INLINE void expectRow(const Tensor &x, const ShardRows &walk, int64_t first, int64_t count) {
  const float *row =
      x.as<float>() + rowOffset(x, walk.o(), walk.b(), walk.q()) + first * x.strides[3];
  for (int64_t i = 0; i < count; i += 16)
    __builtin_prefetch(row + i * x.strides[3]);
}

/// Packs the next `rows` rows of a use for a region, and advances the walk.
void packPass(const Tensor &dy, const Tensor &x, const Region &region, int64_t rows,
              ShardRows &walk, const ColumnTiles &tiles, PassBuffers &buffers) {
  constexpr int kAhead = 3;
  const int64_t height = region.n1 - region.n0, groups = (height + kTileN - 1) / kTileN;
  ShardRows ahead = walk;
  for (int i = 0; i < kAhead && ahead.left() > 0; ++i)
    ahead.next();
  for (int64_t r = 0; r < rows; ++r, walk.next()) {
    if (ahead.left() > 0) {
      expectRow(dy, ahead, region.n0, height);
      expectRow(x, ahead, region.k0, region.k1 - region.k0);
      ahead.next();
    }
    const float *from =
        dy.as<float>() + rowOffset(dy, walk.o(), walk.b(), walk.q()) + region.n0 * dy.strides[3];
    for (int64_t g = 0; g < groups; ++g)
      packGroup(from + g * kTileN * dy.strides[3], dy.strides[3], height - g * kTileN,
                buffers.dy + (g * rows + r) * kGroupN);
    from = x.as<float>() + rowOffset(x, walk.o(), walk.b(), walk.q()) + region.k0 * x.strides[3];
    for (int64_t tile = 0; tile < tiles.tiles; ++tile) {
      const int64_t first = tiles.begin(tile), next = tiles.begin(tile + 1);
      const int64_t count =
          std::min((next - first) * kWidth, region.k1 - region.k0 - first * kWidth);
      copyRow(from + first * kWidth * x.strides[3], x.strides[3], count,
              buffers.x + (first * rows + r * (next - first)) * kWidth, (next - first) * kWidth);
    }
  }
}

/// Adds a product use's rows of a shard to the piece, which is padded to kTileN rows and whole
/// vectors of columns. At the end also adds `merges`, if the shard has any row of this use.
void addProduct(const Tensor &dy, const Tensor &x, const Region &region, ShardRows walk,
                const Piece &piece, bool fresh, const Merges *merges, PassBuffers &buffers) {
  const ColumnTiles tiles(region.k1 - region.k0);
  const int64_t groups = (region.n1 - region.n0 + kTileN - 1) / kTileN;
  while (walk.left() > 0) {
    const int64_t passes = (walk.left() + kPassLength - 1) / kPassLength;
    const int64_t rows = (walk.left() + passes - 1) / passes;
    packPass(dy, x, region, rows, walk, tiles, buffers);
    for (int64_t tile = 0; tile < tiles.tiles; ++tile) {
      const int64_t first = tiles.begin(tile), next = tiles.begin(tile + 1);
      withCount<kMaxVectors>(next - first, [&](auto vectors) LSTMC_LAMBDA {
        constexpr int V = decltype(vectors)::value;
        for (int64_t g = 0; g < groups; ++g)
          gradientTile<V>(buffers.dy + g * rows * kGroupN, buffers.x + first * rows * kWidth, rows,
                          piece, g * kTileN * piece.stride + first * kWidth, fresh,
                          walk.left() == 0 ? merges : nullptr);
      });
    }
    fresh = false;
  }
}

class WeightGradient {
public:
  WeightGradient(const WeightGradientLaunch &launch, Worker &worker)
      : worker_(worker), dw_(launch.dw), scratch_(launch.scratch), begin_(launch.begin),
        uses_(launch.repeated), range_(launch.range), N_(dw_.shape[0]), K_(dw_.shape[1]) {}

  void run() {
    for (size_t use = 0; use < uses_.size(); use += 2)
      if (uses_[use + 1].rank == 3)
        return runInScratch();
    runInOwnMemory();
  }

private:
  /// Divides dw into regions of about kPieceElements, in a number that the workers divide evenly.
  void runInOwnMemory() {
    auto &room = *reinterpret_cast<PiecesRoom *>(workerMemory);
    const int alive = Fold::blocksAlive(range_.count, present());
    const int64_t vectors = (K_ + kWidth - 1) / kWidth, groups = (N_ + kTileN - 1) / kTileN;
    const int64_t columnParts = (vectors * kWidth + kPieceColumns - 1) / kPieceColumns;
    const int64_t width = (vectors + columnParts - 1) / columnParts * kWidth;
    const int64_t elements = std::min<int64_t>(sizeof(room.pieces) / 4 / alive, kPieceElements * 2);
    const int64_t tall = std::min(elements / width / kTileN * kTileN, kPieceRows);
    int64_t rowParts = (groups * kTileN + tall - 1) / tall;
    while (rowParts < groups && rowParts * columnParts % worker_.count != 0)
      ++rowParts;
    const int64_t height = (groups + rowParts - 1) / rowParts * kTileN;

    Piece pieces[kMaxPieces], *list[kMaxPieces];
    for (int i = 0; i < alive; ++i) {
      pieces[i] = {room.pieces + i * height * width, width};
      list[i] = &pieces[i];
    }
    const int64_t parts = rowParts * columnParts;
    for (int64_t part = parts * worker_.index / worker_.count;
         part < parts * (worker_.index + 1) / worker_.count; ++part) {
      const int64_t row = part % rowParts, column = part / rowParts;
      Region region{groups * row / rowParts * kTileN,
                    std::min(groups * (row + 1) / rowParts * kTileN, N_),
                    vectors * column / columnParts * kWidth,
                    std::min(vectors * (column + 1) / columnParts * kWidth, K_)};
      Fold fold(list, alive);
      sumShards(region, fold, [&](Piece &piece, int64_t begin, int64_t end, const Merges &merges) {
        size_t first = uses_.size(), last = 0; // first and last of the uses that have rows
        for (size_t use = 0; use < uses_.size(); use += 2)
          if (ShardRows(uses_[use], begin, end).left() > 0) {
            first = std::min(first, use);
            last = use;
          }
        if (begin_) // tiles go on with the padding too
          std::fill_n(piece.data, height * width, 0.0f);
        if (begin_ || first == uses_.size())
          start(piece, region);
        for (size_t use = first; use < uses_.size(); use += 2)
          addProduct(uses_[use], uses_[use + 1], region, ShardRows(uses_[use], begin, end), piece,
                     use == first && !begin_, use == last ? &merges : nullptr, room.buffers);
        if (first == uses_.size())
          merge(piece, merges, region);
      });
    }
  }

  /// Takes all rows of dw and divides the columns among the workers.
  void runInScratch() {
    const int alive = Fold::blocksAlive(range_.count, present());
    const int64_t words = (N_ + 63) / 64;
    bool marked = !begin_ && words * alive <= kMarkWords;
    for (size_t use = 1; use < uses_.size(); use += 2)
      marked &= uses_[use].rank == 3;
    uint64_t *marks = reinterpret_cast<MarksRoom *>(workerMemory)->marks;
    const int64_t vectors = (K_ + kWidth - 1) / kWidth;
    Region region{0, N_, std::min(vectors * worker_.index / worker_.count * kWidth, K_),
                  std::min(vectors * (worker_.index + 1) / worker_.count * kWidth, K_)};
    if (region.k0 == region.k1)
      return;
    Piece pieces[kMaxPieces], *list[kMaxPieces];
    for (int i = 0; i < alive; ++i) {
      pieces[i] = {scratch_.as<float>() + i * N_ * K_ + region.k0, K_,
                   marked ? marks + i * words : nullptr};
      list[i] = &pieces[i];
    }
    Fold fold(list, alive);
    sumShards(region, fold, [&](Piece &piece, int64_t begin, int64_t end, const Merges &merges) {
      start(piece, region);
      for (size_t use = 0; use < uses_.size(); use += 2) {
        ShardRows walk(uses_[use], begin, end);
        if (uses_[use + 1].rank == 3)
          addEmbedding(uses_[use], uses_[use + 1], region, walk, piece);
        else
          addProductInParts(uses_[use], uses_[use + 1], region, walk, piece);
      }
      merge(piece, merges, region);
    });
  }

  /// The same as addProduct, for a region of any size whose memory has no padding, through a small
  /// piece.
  void addProductInParts(const Tensor &dy, const Tensor &x, const Region &region,
                         const ShardRows &walk, const Piece &piece) {
    auto &room = *reinterpret_cast<MarksRoom *>(workerMemory);
    constexpr int64_t kSide = 192;
    for (int64_t n = region.n0; n < region.n1; n += kSide)
      for (int64_t k = region.k0; k < region.k1; k += kSide) {
        Region small{n, std::min(n + kSide, region.n1), k, std::min(k + kSide, region.k1)};
        Piece part{room.part, kSide};
        float *at = piece.data + (n - region.n0) * piece.stride + (k - region.k0);
        for (int64_t i = 0; i < small.n1 - small.n0; ++i)
          copyRow(at + i * piece.stride, 1, small.k1 - small.k0, part.data + i * kSide, 0);
        addProduct(dy, x, small, walk, part, false, nullptr, room.buffers);
        for (int64_t i = 0; i < small.n1 - small.n0; ++i)
          copyRow(part.data + i * kSide, 1, small.k1 - small.k0, at + i * piece.stride, 0);
      }
  }

  static void addEmbedding(const Tensor &dy, const Tensor &indices, const Region &region,
                           ShardRows walk, const Piece &piece) {
    for (; walk.left() > 0; walk.next()) {
      const int64_t row =
          indexAt(indices, rowOffset(indices, walk.o(), walk.b(), walk.q()), region.n1);
      const float *from = dy.as<float>() + rowOffset(dy, walk.o(), walk.b(), walk.q());
      float *to = piece.data + row * piece.stride;
      if (!piece.stores(row)) {
        std::fill_n(to, region.k1 - region.k0, 0.0f);
        piece.marks[row / 64] |= uint64_t(1) << (row % 64);
      }
      from += region.k0 * dy.strides[3];
      if (dy.strides[3] == 1)
        addRow(from, to, region.k1 - region.k0);
      else
        for (int64_t k = 0; k < region.k1 - region.k0; ++k)
          to[k] = to[k] + from[k * dy.strides[3]];
    }
  }

  using Fold = ShardFold<Piece, kMaxPieces>;

  /// Number of shards that have rows.
  int64_t present() const {
    int64_t count = 0;
    for (int64_t j = 0; j < range_.count; ++j)
      count += range_.begin(j) < range_.begin(j + 1);
    return count;
  }

  /// Calls sum(piece, begin, end, merges) for each shard, adds the pieces by the tree, and copies
  /// the root to dw.
  template <typename Sum> void sumShards(const Region &region, Fold &fold, Sum sum) {
    auto add = [&](Piece *a, Piece *b) { addPiece(*a, *b, region); };
    for (int64_t j = 0; j < range_.count; ++j) {
      const int64_t begin = range_.begin(j), end = range_.begin(j + 1);
      if (begin == end || stopAsked()) {
        fold.skip(add);
        continue;
      }
      Merges merges;
      merges.count = fold.merges(merges.pieces);
      sum(*fold.leaf(), begin, end, merges);
      fold.fold();
    }
    const Piece *root = fold.finish(add);
    for (int64_t n = region.n0; n < region.n1; ++n)
      putRow(root && root->stores(n - region.n0) ? root->data + (n - region.n0) * root->stride
                                                 : nullptr,
             n, region);
  }

  /// Row n of dw, in the region's columns: what `from` has, or 0.
  void putRow(const float *from, int64_t n, const Region &region) {
    const int64_t columns = region.k1 - region.k0, step = dw_.strides[1];
    float *to = dw_.as<float>() + n * dw_.strides[0] + region.k0 * step;
    if (from && step == 1)
      return copyRow(from, 1, columns, to, columns);
    for (int64_t k = 0; k < columns; ++k)
      to[k * step] = from ? from[k] : 0.0f;
  }

  /// The sum before the first row: 0, or what it goes on from.
  void start(Piece &piece, const Region &region) const {
    const int64_t columns = region.k1 - region.k0;
    if (piece.marks)
      return void(std::fill_n(piece.marks, (N_ + 63) / 64, 0));
    for (int64_t n = region.n0; n < region.n1; ++n) {
      float *to = piece.data + (n - region.n0) * piece.stride;
      if (begin_)
        copyRow(begin_.as<float>() + n * begin_.strides[0] + region.k0 * begin_.strides[1],
                begin_.strides[1], columns, to, columns);
      else
        std::fill_n(to, columns, 0.0f);
    }
  }

  static void merge(Piece &piece, const Merges &merges, const Region &region) {
    for (int i = 0; i < merges.count; ++i)
      addPiece(*merges.pieces[i], piece, region);
  }

  /// b = a + b
  static void addPiece(const Piece &a, Piece &b, const Region &region) {
    if (b.marks)
      return addMarked(a, b, region);
    for (int64_t n = 0; n < region.n1 - region.n0; ++n)
      addRow(a.data + n * a.stride, b.data + n * b.stride, region.k1 - region.k0);
  }

  /// The same for rows that one of the two stores. A row that the other does not store is added as
  /// the +0 that it is, which makes +0 of -0.
  static void addMarked(const Piece &a, Piece &b, const Region &region) {
    const int64_t columns = region.k1 - region.k0;
    for (int64_t word = 0; word * 64 < region.n1; ++word) {
      for (uint64_t rows = a.marks[word] | b.marks[word]; rows; rows &= rows - 1) {
        const int64_t row = word * 64 + __builtin_ctzll(rows);
        float *to = b.data + row * b.stride;
        if (!b.stores(row))
          std::fill_n(to, columns, 0.0f);
        if (a.stores(row)) {
          addRow(a.data + row * a.stride, to, columns);
        } else {
          for (int64_t k = 0; k < columns; ++k)
            to[k] = 0.0f + to[k];
        }
      }
      b.marks[word] |= a.marks[word];
    }
  }

  static void addRow(const float *from, float *to, int64_t columns) {
    int64_t k = 0;
    for (; k + kWidth <= columns; k += kWidth)
      (Vector::load(from + k) + Vector::load(to + k)).store(to + k);
    if (k < columns) {
      const Vector::Mask some = Vector::firstLanes(columns - k);
      (Vector::load(from + k, some) + Vector::load(to + k, some)).store(to + k, some);
    }
  }

  Worker &worker_;
  const Tensor &dw_, &scratch_, &begin_;
  const std::span<const Tensor> uses_;
  const ShardRange range_;
  const int64_t N_, K_;
};

void weightGradient(const WeightGradientLaunch &launch, Worker &worker) {
  WeightGradient(launch, worker).run();
}

} // namespace

void registerWeightGradient(KernelTable &table) { table.set<weightGradient>(); }

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
