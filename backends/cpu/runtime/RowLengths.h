// How long each sequence of a recurrent layer is.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/cpu/runtime/Lengths.h"
#include "backends/cpu/runtime/Vector.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

/// A layer asks for them at every step, and to read one from a tensor of any type takes longer than
/// all else that is done for a row that has ended.
class RowLengths {
public:
  /// `lengths` may be absent: then every sequence has all `steps`.
  RowLengths(const Tensor &lengths, int64_t batch, int64_t steps)
      : lengths_(lengths), steps_(steps) {
    for (int64_t b = 0; lengths_ && b < std::min(batch, kKept); ++b)
      kept_[b] = lengthAt(lengths_, b, steps_);
  }

  /// Whether step t of sequence b is one of its own.
  bool has(int64_t t, int64_t b) const {
    return !lengths_ || t < (b < kKept ? kept_[b] : lengthAt(lengths_, b, steps_));
  }

  /// Number of rows in [begin, end) that have step t.
  int64_t count(int64_t t, int64_t begin, int64_t end) const {
    if (!lengths_)
      return end - begin;
    int64_t count = 0;
    for (int64_t b = begin; b < end; ++b)
      count += has(t, b);
    return count;
  }
  /// Writes the first `count` rows from b on that have step t, and returns the row after them.
  /// There have to be as many.
  int64_t take(int64_t t, int64_t b, int64_t count, int64_t *rows) const {
    for (int64_t i = 0; i < count; ++b) {
      rows[i] = b;
      i += has(t, b);
    }
    return b;
  }

private:
  static constexpr int64_t kKept = 512;

  const Tensor &lengths_;
  const int64_t steps_;
  int64_t kept_[kKept];
};

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
