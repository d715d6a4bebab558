// Makes vectors orthonormal by the algorithm of executor/base/OrthogonalBlock.h, with all workers.
// Products are divided by the earlier vectors, differences by elements. Compiled once per level.
#pragma once

#include <limits>

#include "backends/cpu/runtime/Lanes.h"
#include "backends/cpu/runtime/Lanes64.h"
#include "backends/cpu/runtime/StridedWalk.h"
#include "executor/base/OrthogonalBlock.h"
#include "executor/device/Kernel.h"
#include "executor/device/StopFlag.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

/// The level's vector type for f32 and for f64.
template <typename Real> struct LevelVector;
template <> struct LevelVector<float> {
  using Type = Vector;
  static constexpr int kCount = kWidth;
  static LSTMC_INLINE float sum(const Vector (&lanes)[kPanel / kCount]) {
    return treeOfLanes(lanes, [](Vector a, Vector b) { return a + b; });
  }
};
template <> struct LevelVector<double> {
  using Type = Wide;
  static constexpr int kCount = Wide::kCount;
  static LSTMC_INLINE double sum(const Wide (&lanes)[kPanel / kCount]) {
    alignas(64) double all[kPanel];
    for (int i = 0; i < kPanel / kCount; ++i)
      lanes[i].store(all + i * kCount);
    return treeOfLanes(all);
  }
};

template <typename Real> class Orthonormaliser {
  using Level = LevelVector<Real>;
  using V = typename Level::Type;
  static constexpr int kCount = Level::kCount, kParts = int(kPanel) / kCount;
  /// How many products, and how many differences, are computed at the same time: as many as
  /// registers hold.
  static constexpr int kBefore = kParts == 1 ? 6 : kParts == 2 ? 3 : 1;
  static constexpr int kAfter = kParts == 1 ? 4 : kParts == 2 ? 2 : 1;
  static constexpr int kRows = 4, kColumns = LSTMC_CPU_WIDTH == 16 ? 4 : 2;

public:
  /// `count` vectors of `size` elements, one after the other. The workers share `sums` [count,
  /// block] and `scales` [block + 1].
  Orthonormaliser(Real *vectors, int64_t count, int64_t size, double *sums, double *scales,
                  Worker &worker)
      : vectors_(vectors), count_(count), size_(size), block_(minimum(count, kOrthogonalBlock)),
        sums_(sums), scales_(scales), worker_(worker) {}

  void run() {
    for (int64_t first = 0; first < count_; first += block_) {
      const int64_t count = minimum(block_, count_ - first);
      bool again = true;
      for (int pass = 0; pass < kOrthogonalPasses && again; ++pass) {
        const Share before(first + count, worker_.index, worker_.count);
        multiply(before.begin, before.end, first, count);
        worker_.barrier();
        if (worker_.index == 0)
          scales_[block_] = !stopAsked() && factorAndRound(first, count);
        worker_.barrier();
        const Share tiles(ceilDivide(size_, kOrthogonalTile), worker_.index, worker_.count);
        for (int64_t tile = tiles.begin; tile < tiles.end && !stopAsked(); ++tile)
          subtract(first, count, tile * kOrthogonalTile,
                   minimum(size_, (tile + 1) * kOrthogonalTile));
        again = scales_[block_] != 0;
        worker_.barrier();
      }
    }
  }

private:
  Real *vector(int64_t v) const { return vectors_ + v * size_; }
  /// Coefficients of vector j, rounded; they overwrite its sums.
  Real *coefficients(int64_t j) const { return reinterpret_cast<Real *>(sums_ + j * block_); }

  // ---- products ----

  void multiply(int64_t begin, int64_t end, int64_t first, int64_t count) {
    for (int64_t j = begin; j < end; ++j)
      for (int64_t i = 0; i < count; ++i)
        sums_[j * block_ + i] = 0;
    for (int64_t e = 0; e < size_ && !stopAsked(); e += kOrthogonalTile) {
      const int64_t tileEnd = minimum(size_, e + kOrthogonalTile);
      int64_t j = begin;
      for (; j + kBefore <= end; j += kBefore)
        multiplyRows<kBefore>(j, first, count, e, tileEnd);
      for (; j < end; ++j)
        multiplyRows<1>(j, first, count, e, tileEnd);
    }
  }
  template <int J>
  void multiplyRows(int64_t j, int64_t first, int64_t count, int64_t begin, int64_t end) {
    int64_t i = 0;
    for (; i + kAfter <= count; i += kAfter)
      multiplyPairs<J, kAfter>(j, first, i, begin, end);
    for (; i < count; ++i)
      multiplyPairs<J, 1>(j, first, i, begin, end);
  }
  /// Adds the products of J x I vectors over one tile.
  template <int J, int I>
  __attribute__((noinline)) void multiplyPairs(int64_t j, int64_t first, int64_t i, int64_t begin,
                                               int64_t end) {
    const Real *q = vector(j) + begin, *v = vector(first + i) + begin;
    const int64_t count = end - begin;
    V lanes[J][I][kParts];
    for (auto &row : lanes)
      for (auto &pair : row)
        for (V &part : pair)
          part = V::zero();
    int64_t e = 0;
    for (; e + kPanel <= count; e += kPanel)
#pragma clang loop unroll(full)
      for (int part = 0; part < kParts; ++part) {
        const int64_t at = e + part * kCount;
        V left[J];
        for (int a = 0; a < J; ++a)
          left[a] = V::load(q + a * size_ + at);
        for (int b = 0; b < I; ++b) {
          const V right = V::load(v + b * size_ + at);
          for (int a = 0; a < J; ++a)
            lanes[a][b][part] = fma(left[a], right, lanes[a][b][part]);
        }
      }
    for (int a = 0; a < J; ++a)
      for (int b = 0; b < I; ++b) {
        if (e < count)
          addRest(lanes[a][b], q + a * size_ + e, v + b * size_ + e, count - e);
        sums_[(j + a) * block_ + i + b] += double(Level::sum(lanes[a][b]));
      }
  }
  static void addRest(V (&lanes)[kParts], const Real *q, const Real *v, int64_t count) {
    alignas(64) Real all[kPanel];
    for (int part = 0; part < kParts; ++part)
      lanes[part].store(all + part * kCount);
    for (int64_t e = 0; e < count; ++e)
      all[e] = std::fma(q[e], v[e], all[e]);
    for (int part = 0; part < kParts; ++part)
      lanes[part] = V::load(all + part * kCount);
  }

  bool factorAndRound(int64_t first, int64_t count) {
    const bool again =
        factor(sums_, block_, first, count, std::numeric_limits<Real>::epsilon(), scales_);
    Real row[kOrthogonalBlock];
    for (int64_t j = 0; j < first + count; ++j) {
      for (int64_t i = 0; i < count; ++i)
        row[i] = Real(sums_[j * block_ + i]);
      std::copy_n(row, count, coefficients(j));
    }
    return again;
  }

  // ---- differences, over elements begin to end - 1 ----

  void subtract(int64_t first, int64_t count, int64_t begin, int64_t end) {
    constexpr int64_t kStep = kColumns * kCount, kVectors = 64;
    const int64_t whole = begin + (end - begin) / kStep * kStep;
    for (int64_t j = 0; j < first; j += kVectors)
      for (int64_t e = begin; e < whole; e += kStep) {
        int64_t i = 0;
        for (; i + kRows <= count; i += kRows)
          take<kRows>(j, minimum(j + kVectors, first), first, i, e);
        for (; i < count; ++i)
          take<1>(j, minimum(j + kVectors, first), first, i, e);
      }
    for (int64_t e = begin; e < whole; e += kStep)
      for (int64_t i = 0; i < count; ++i) {
        take<1>(first, first + i, first, i, e);
        const V scale = V::broadcast(Real(scales_[i]));
        Real *v = vector(first + i) + e;
        for (int c = 0; c < kColumns; ++c)
          (V::load(v + c * kCount) * scale).store(v + c * kCount);
      }
    for (int64_t i = 0; i < count; ++i)
      for (int64_t e = whole; e < end; ++e) {
        Real &v = vector(first + i)[e];
        for (int64_t j = 0; j < first + i; ++j)
          v = std::fma(coefficients(j)[i], vector(j)[e], v);
        v *= Real(scales_[i]);
      }
  }

  /// Subtracts the multiples of vectors begin to end - 1 from elements e, ... (kColumns vectors) of
  /// the I vectors from i of the block.
  template <int I> void take(int64_t begin, int64_t end, int64_t first, int64_t i, int64_t e) {
    Real *v = vector(first + i) + e;
    V rows[I][kColumns];
    for (int a = 0; a < I; ++a)
      for (int c = 0; c < kColumns; ++c)
        rows[a][c] = V::load(v + a * size_ + c * kCount);
    for (int64_t j = begin; j < end; ++j) {
      const Real *q = vector(j) + e, *coefficient = coefficients(j) + i;
      V columns[kColumns];
      for (int c = 0; c < kColumns; ++c)
        columns[c] = V::load(q + c * kCount);
      for (int a = 0; a < I; ++a) {
        const V factor = V::broadcast(coefficient[a]);
        for (int c = 0; c < kColumns; ++c)
          rows[a][c] = fma(factor, columns[c], rows[a][c]);
      }
    }
    for (int a = 0; a < I; ++a)
      for (int c = 0; c < kColumns; ++c)
        rows[a][c].store(v + a * size_ + c * kCount);
  }

  Real *const vectors_;
  const int64_t count_, size_, block_;
  double *const sums_, *const scales_;
  Worker &worker_;
};

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
