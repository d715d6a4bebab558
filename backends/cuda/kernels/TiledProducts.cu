#include "backends/cuda/kernels/TiledProducts.h"

namespace lstmc::gpu {

namespace {

constexpr int kRowsApart = kTile / kRowsOfThread;

/// A thread's results, each one sum from +0 with a fused multiply-add for each term, ascending
/// (docs/numerics.md rule 1).
struct Results {
  float sums[kRowsOfThread][kColumnsOfThread];

  // The lanes of a warp read 4 rows and 8 groups of columns, from different banks.
  static LSTMC_DEVICE int row(int r) {
    return warpIndex() / 2 * 4 + laneIndex() / 8 + r * kRowsApart;
  }
  static LSTMC_DEVICE int column(int c) {
    return (warpIndex() % 2 * 8 + laneIndex() % 8) * kColumnsOfThread + c;
  }

  LSTMC_DEVICE void addTerm(const float (&x)[kRowsOfThread], const Quad &w) {
    LSTMC_UNROLL
    for (int r = 0; r < kRowsOfThread; ++r)
      LSTMC_UNROLL
    for (int c = 0; c < kColumnsOfThread; ++c)
      sums[r][c] = multiplyAdd(x[r], w.numbers[c], sums[r][c]);
  }

  /// Adds the first `count` terms of two tiles, and no others: a term of 0 would make -0 to +0.
  LSTMC_DEVICE void add(Tile xTile, Tile pTile, int count) {
    const Shared<Quad> x = xTile.quads(), p = pTile.quads();
    auto weights = [&](int k) { return p.load(placeIn<Order::DepthFirst>(column(0), k) / kQuad); };
    int k = 0;
    for (; k + kQuad <= count; k += kQuad) {
      Quad rows[kRowsOfThread];
      LSTMC_UNROLL
      for (int r = 0; r < kRowsOfThread; ++r)
        rows[r] = x.load(placeIn<Order::LinesFirst>(row(r), k) / kQuad);
      LSTMC_UNROLL
      for (int i = 0; i < kQuad; ++i) {
        float terms[kRowsOfThread];
        LSTMC_UNROLL
        for (int r = 0; r < kRowsOfThread; ++r)
          terms[r] = rows[r].numbers[i];
        addTerm(terms, weights(k + i));
      }
    }
    for (int e = 0; e < kQuad && k < count; ++e, ++k) {
      float terms[kRowsOfThread];
      LSTMC_UNROLL
      for (int r = 0; r < kRowsOfThread; ++r)
        terms[r] = xTile.numbers().load(placeIn<Order::LinesFirst>(row(r), k));
      addTerm(terms, weights(k));
    }
  }
};

/// Copies of the rows of x: the thread has the same four terms of rows kApart apart.
class RowCopies {
public:
  static constexpr int kGroups = kTileDepth / kQuad, kApart = kTileThreads / kGroups;
  static constexpr int kCount = kTile / kApart;

  LSTMC_DEVICE RowCopies(const TensorProductArguments &all, int64_t outer, int64_t firstRow)
      : x_(elementsOf<const float>(all.product.x)), apart_(all.product.x.strides[2]),
        whole_(alignedQuads(x_.data) && apart_ == 1) {
    const Operand &x = all.product.x;
    const int64_t height = x.shape[1];
    LSTMC_UNROLL
    for (int i = 0; i < kCount; ++i) {
      const int64_t row = firstRow + threadIndex() / kGroups + i * kApart;
      const int64_t matrix = all.flat ? int(row) / int(height) : outer;
      const int64_t line = all.flat ? int(row) % int(height) : row;
      const bool there = all.flat ? matrix < x.shape[0] : line < height;
      offsets_[i] = there ? matrix * x.strides[0] + line * x.strides[1] : kNowhere;
      whole_ = whole_ && (!there || offsets_[i] % kQuad == 0);
    }
  }

  LSTMC_DEVICE void copy(Tile to, int64_t begin, int64_t depth) const {
    const int first = threadIndex() % kGroups * kQuad;
    const int64_t left = depth - begin - first;
    const int wanted = left < 0 ? 0 : left < kQuad ? int(left) : kQuad;
    LSTMC_UNROLL
    for (int i = 0; i < kCount; ++i)
      copyQuad(to, placeIn<Order::LinesFirst>(threadIndex() / kGroups + i * kApart, first), x_,
               offsets_[i] + (begin + first) * apart_, apart_, offsets_[i] == kNowhere ? 0 : wanted,
               whole_);
  }

private:
  Global<const float> x_;
  int64_t apart_;
  bool whole_; ///< four terms are four neighbours, from a multiple of 4 on
  int64_t offsets_[kCount];
};

/// Copies of the weights: the thread has the same four columns of terms kApart apart.
class WeightCopies {
public:
  static constexpr int kGroups = kTile / kQuad, kApart = kTileThreads / kGroups;

  LSTMC_DEVICE WeightCopies(const TensorProductArguments &all, int64_t matrix, int64_t firstColumn)
      : p_(elementsOf<const float>(all.product.p)), width_(all.gates * int64_t(kPanel)),
        whole_(alignedQuads(p_.data)) {
    const int64_t column = firstColumn + threadIndex() % kGroups * kQuad;
    const int64_t panel = column / width_, depth = all.product.x.shape[2];
    offset_ = panel < all.product.panels
                  ? (matrix * all.product.panels + panel) * depth * width_ + column % width_
                  : kNowhere;
  }

  LSTMC_DEVICE void copy(Tile to, int64_t begin, int64_t depth) const {
    const int first = threadIndex() / kGroups;
    LSTMC_UNROLL
    for (int k = 0; k < kTileDepth; k += kApart) {
      const int64_t term = begin + first + k;
      copyQuad(to, placeIn<Order::DepthFirst>(threadIndex() % kGroups * kQuad, first + k), p_,
               offset_ + term * width_, 1, offset_ == kNowhere || term >= depth ? 0 : kQuad,
               whole_);
    }
  }

private:
  Global<const float> p_;
  int64_t width_, offset_; ///< of all gates' columns of a panel
  bool whole_;
};

} // namespace

LSTMC_GPU_KERNEL(lstmc_product_tiles_f32, TensorProductArguments, all) {
  const ProductArguments &a = all.product;
  const int64_t block = blockIndex() / all.columnBlocks, outer = block / a.rowBlocks;
  const int64_t firstRow = block % a.rowBlocks * kTile;
  const int64_t firstColumn = blockIndex() % all.columnBlocks * kTile;
  const int64_t depth = a.x.shape[2];
  const RowCopies rows(all, outer, firstRow);
  const WeightCopies weights(all, a.oneMatrix ? 0 : outer, firstColumn);

  Results results = {};
  throughTiles(
      depth,
      [&](Tile x, Tile p, int64_t begin) {
        rows.copy(x, begin, depth);
        weights.copy(p, begin, depth);
      },
      [&](Tile x, Tile p, int64_t count) {
        if (count >= kTileDepth)
          results.add(x, p, kTileDepth);
        else
          results.add(x, p, int(count));
      });

  const Global<const float> bias = elementsOf<const float>(a.bias);
  const Global<float> y = elementsOf<float>(a.y);
  const int64_t width = all.gates * int64_t(kPanel), units = a.y.shape[2] / all.gates;
  const int64_t column = firstColumn + Results::column(0), panel = column / width;
  const int64_t gate = column % width / int(kPanel);
  const int64_t unit = panel * int(kPanel) + column % int(kPanel);
  LSTMC_UNROLL
  for (int r = 0; r < kRowsOfThread; ++r) {
    const int64_t row = firstRow + Results::row(r), height = a.y.shape[1];
    const int64_t matrix = all.flat ? int(row) / int(height) : outer;
    const int64_t line = all.flat ? int(row) % int(height) : row;
    if (all.flat ? matrix >= a.y.shape[0] : line >= height)
      continue;
    LSTMC_UNROLL
    for (int c = 0; c < kColumnsOfThread; ++c) {
      if (panel >= a.panels || unit + c >= units)
        continue;
      const int64_t to = gate * units + unit + c;
      float sum = results.sums[r][c];
      if (bias)
        sum = added(sum, bias.load(at(a.bias, to)));
      y.store(at(a.y, matrix, line, to), sum);
    }
  }
}

} // namespace lstmc::gpu
