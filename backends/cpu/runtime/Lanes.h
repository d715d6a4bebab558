// Rows of f32 in vectors, and reductions in 16 lanes: element e goes to lane e mod 16, ascending;
// then the fixed tree adds the lanes (docs/numerics.md rule 9). Compiled once per level.
#pragma once

#include "backends/cpu/runtime/Vector.h"
#include "executor/base/Tensor.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

/// a if a > b or a is NaN, else b: the meaning of ScalarOp::Max. Uses the maximum instruction,
/// which flushes a denormal to 0, as the compiler's code for the reference does.
LSTMC_INLINE Vector maximum(Vector a, Vector b) { return select(a != a, a, max(a, b)); }
LSTMC_INLINE Vector minimum(Vector a, Vector b) { return select(a != a, a, min(a, b)); }

/// A row of f32, `step` elements apart.
struct Row {
  float *data;
  int64_t step;

  /// Elements e to min(e + kWidth, end) - 1; the other lanes are 0.
  LSTMC_INLINE Vector load(int64_t e, int64_t end) const {
    if (step == 1)
      return end - e >= kWidth ? Vector::load(data + e)
                               : Vector::load(data + e, Vector::firstLanes(end - e));
    return loadStrided(e, end);
  }
  LSTMC_INLINE void store(int64_t e, int64_t end, Vector v) const {
    if (step != 1)
      storeStrided(e, end, v);
    else if (end - e >= kWidth)
      v.store(data + e);
    else
      v.store(data + e, Vector::firstLanes(end - e));
  }
  float operator[](int64_t e) const { return data[e * step]; }

private:
  // Never inlined: the many addresses would fill the registers of every loop over a row.
  __attribute__((noinline)) Vector loadStrided(int64_t e, int64_t end) const {
    float lanes[kWidth] = {};
    for (int64_t i = 0; i < kWidth && e + i < end; ++i)
      lanes[i] = data[(e + i) * step];
    return Vector::load(lanes);
  }
  __attribute__((noinline)) void storeStrided(int64_t e, int64_t end, Vector v) const {
    float lanes[kWidth];
    v.store(lanes);
    for (int64_t i = 0; i < kWidth && e + i < end; ++i)
      data[(e + i) * step] = lanes[i];
  }
};

/// Row r of a matrix [R, C].
inline Row rowOf(const Tensor &matrix, int64_t r) {
  return {matrix.as<float>() + r * matrix.strides[0], matrix.strides[1]};
}
inline Row vectorOf(const Tensor &vector) { return {vector.as<float>(), vector.strides[0]}; }

inline float firstLane(Vector v) {
#if LSTMC_CPU_WIDTH == 1
  return v.v;
#else
  return v.v[0];
#endif
}

/// Combines lanes 0 to 15 with `join` by the tree: ((0, 1), (2, 3)), ...
template <typename Join> float treeOfLanes(const Vector (&lanes)[kPanelVectors], Join join) {
#if LSTMC_CPU_WIDTH == 16
  Vector v = lanes[0];
  // In each round, the second operand brings the subtree of the right neighbour to lane 0. The
  // results in other lanes are not used.
  v = join(v, Vector{__builtin_shufflevector(v.v, v.v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12,
                                             15, 14)});
  v = join(v, Vector{__builtin_shufflevector(v.v, v.v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15,
                                             12, 13)});
  v = join(v, Vector{__builtin_shufflevector(v.v, v.v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9,
                                             10, 11)});
  v = join(v, Vector{__builtin_shufflevector(v.v, v.v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4,
                                             5, 6, 7)});
  return firstLane(v);
#elif LSTMC_CPU_WIDTH == 8
  Vector half[2] = {lanes[0], lanes[1]};
  for (Vector &v : half) {
    v = join(v, Vector{__builtin_shufflevector(v.v, v.v, 1, 0, 3, 2, 5, 4, 7, 6)});
    v = join(v, Vector{__builtin_shufflevector(v.v, v.v, 2, 3, 0, 1, 6, 7, 4, 5)});
    v = join(v, Vector{__builtin_shufflevector(v.v, v.v, 4, 5, 6, 7, 0, 1, 2, 3)});
  }
  return firstLane(join(half[0], half[1]));
#else
  Vector level[kPanelVectors];
  for (int i = 0; i < kPanelVectors; ++i)
    level[i] = lanes[i];
  for (int n = kPanelVectors / 2; n > 0; n /= 2)
    for (int i = 0; i < n; ++i)
      level[i] = join(level[2 * i], level[2 * i + 1]);
  return firstLane(level[0]);
#endif
}

/// lane(e mod 16) = step(e, lane) for elements 0 to count - 1 of a row, vector by vector; then the
/// tree of `join`. `step` may also compute lanes beyond `count`, which are then restored.
template <typename Step, typename Join>
LSTMC_INLINE float foldInLanes(int64_t count, float start, Step step, Join join) {
  Vector lanes[kPanelVectors];
  for (Vector &lane : lanes)
    lane = Vector::broadcast(start);
  int64_t e = 0;
  for (; e + kPanel <= count; e += kPanel)
    for (int j = 0; j < kPanelVectors; ++j)
      lanes[j] = step(e + j * kWidth, lanes[j]);
  for (int j = 0; j < kPanelVectors && e < count; ++j, e += kWidth) {
    Vector next = step(e, lanes[j]);
    lanes[j] = select(Vector::firstLanes(count - e), next, lanes[j]);
  }
  return treeOfLanes(lanes, join);
}

template <typename Step> LSTMC_INLINE float sumInLanes(int64_t count, Step step) {
  return foldInLanes(count, 0.0f, step, [](Vector a, Vector b) { return a + b; });
}

/// The largest of a row's first `count` elements, or NaN if one is; -infinity for none.
LSTMC_INLINE float maximumInLanes(const Row &row, int64_t count) {
  return foldInLanes(
      count, -__builtin_inff(),
      [&](int64_t e, Vector lane) { return maximum(lane, row.load(e, count)); },
      [](Vector a, Vector b) { return maximum(a, b); });
}

/// The first element that equals the row's largest, or the first NaN if that is NaN.
inline int64_t firstOf(const Row &row, int64_t count, float largest) {
  for (int64_t e = 0; e < count; ++e)
    if (row[e] == largest || (largest != largest && row[e] != row[e]))
      return e;
  return 0;
}

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
