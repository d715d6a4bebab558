// Visits the elements of views of equal shape together, in rows as few and long as the strides
// allow. Compiled once per level.
#pragma once

#include "backends/cpu/runtime/Vector.h"
#include "executor/base/Tensor.h"
#include "executor/device/StopFlag.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

/// The part of `items` for one of `count` workers.
struct Share {
  int64_t begin, end;
  Share(int64_t items, int index, int count)
      : begin(items * index / count), end(items * (index + 1) / count) {}
};

/// Whether a loop over items that take nanoseconds is to end before item i; looks at the stop flag
/// once in 1,024 items.
LSTMC_INLINE bool endsBefore(int64_t i) { return i % 1024 == 0 && stopAsked(); }

inline int64_t minimum(int64_t a, int64_t b) { return a < b ? a : b; }
inline int64_t maximum(int64_t a, int64_t b) { return a > b ? a : b; }
inline int64_t ceilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// N views, with extents of 1 dropped and dimensions joined that all views step through as one.
/// With `sorted`, dimensions are ordered by falling strides of the first view, so that its memory
/// is visited in ascending order.
template <int N> struct StridedWalk {
  int rank = 0;
  int64_t total = 1;
  int64_t shape[kMaxRank];
  int64_t strides[N][kMaxRank];

  StridedWalk(const Tensor *const (&views)[N], bool sorted) {
    int order[kMaxRank];
    int dims = 0;
    const Tensor &leader = *views[0];
    for (int d = 0; d < leader.rank; ++d) {
      total *= leader.shape[size_t(d)];
      if (leader.shape[size_t(d)] == 1)
        continue;
      int j = dims++;
      for (; sorted && j > 0 && step(leader, order[j - 1]) < step(leader, d); --j)
        order[j] = order[j - 1];
      order[j] = d;
    }
    for (int i = 0; i < dims; ++i) {
      auto d = size_t(order[i]);
      bool joins = rank > 0;
      for (int v = 0; v < N; ++v)
        joins = joins && strides[v][rank - 1] == views[v]->strides[d] * leader.shape[d];
      if (!joins)
        shape[rank++] = 1;
      shape[rank - 1] *= leader.shape[d];
      for (int v = 0; v < N; ++v)
        strides[v][rank - 1] = views[v]->strides[d];
    }
  }

  /// Calls f(offsets) for positions begin to end - 1 of the first `dims` dimensions, row-major;
  /// offsets[v] counts elements of view v. Leaves out what is left if a stop is asked.
  template <typename F> void positions(int dims, int64_t begin, int64_t end, F f) const {
    if (begin >= end)
      return;
    int64_t index[kMaxRank], offsets[N] = {};
    int64_t at = begin;
    for (int d = dims - 1; d >= 0; --d) {
      index[d] = at % shape[d];
      at /= shape[d];
      for (int v = 0; v < N; ++v)
        offsets[v] += index[d] * strides[v][d];
    }
    for (int64_t i = begin;; ++i) {
      f(offsets);
      if (i + 1 == end || endsBefore(i + 1))
        return;
      int d = dims - 1;
      while (true) {
        for (int v = 0; v < N; ++v)
          offsets[v] += strides[v][d];
        if (++index[d] < shape[d])
          break;
        for (int v = 0; v < N; ++v)
          offsets[v] -= shape[d] * strides[v][d];
        index[d--] = 0;
      }
    }
  }

private:
  static int64_t step(const Tensor &view, int d) {
    int64_t s = view.strides[size_t(d)];
    return s < 0 ? -s : s;
  }
};

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
