// How workers share a recurrent layer.
#pragma once

#include <cstdint>

#include "backends/cpu/runtime/Vector.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

/// Rows and units of one worker. Units are split, with a meeting once a step; or, where the
/// recurrent weights fit into every core's L2 beside what else is used, rows, which never meet.
/// Sums are split by neither.
struct RnnSplit {
  /// Recurrent weights up to this many bytes are read by every worker, each for its own rows.
  static constexpr int64_t kSharedWeightBytes = 1280 * 1024;
  /// A worker that splits rows wants at least this many.
  static constexpr int64_t kLeastRows = 4;
  /// Up to this many bytes of recurrent weights, one row is one worker's work: meeting costs more
  /// than it saves.
  static constexpr int64_t kSoloBytes = 64 * 1024;

  /// `units` in what workers take at a time; rows of several lengths are not split.
  RnnSplit(int64_t worker, int64_t workers, int64_t batch, int64_t units, int64_t weightBytes,
           bool lengths)
      : rowEnd(batch), unitEnd(units) {
    if (workers == 1)
      return;
    if (batch == 1 && weightBytes <= kSoloBytes) {
      idle = worker != 0;
    } else if (!lengths && batch >= kLeastRows * workers && weightBytes <= kSharedWeightBytes) {
      rowBegin = batch * worker / workers;
      rowEnd = batch * (worker + 1) / workers;
    } else {
      unitBegin = units * worker / workers;
      unitEnd = units * (worker + 1) / workers;
      meets = true;
    }
  }

  /// Where this worker's list of rows begins, in a room of units * batch entries.
  int64_t listOffset(int64_t batch) const { return rowBegin > 0 ? rowBegin : unitBegin * batch; }

  bool idle = false;  ///< has nothing to do and meets nobody
  bool meets = false; ///< at each step
  int64_t rowBegin = 0, rowEnd;
  int64_t unitBegin = 0, unitEnd;
};

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
