// How workers divide the work on a recurrent layer.
#pragma once

#include <cstdint>

#include "backends/cpu/runtime/Vector.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

/// Rows and units of one worker. Units are divided, with a barrier at each step. If the recurrent
/// weights fit into every core's L2 with room for other data, rows are divided instead, without
/// barriers. A sum is never divided.
struct RnnSplit {
  /// If the recurrent weights take at most this many bytes, every worker may read all, for its own
  /// rows.
  static constexpr int64_t kSharedWeightBytes = 1280 * 1024;
  /// Rows are divided only if each worker gets at least this many.
  static constexpr int64_t kLeastRows = 4;
  /// If the recurrent weights take at most this many bytes, one worker computes a single row alone:
  /// the barriers would take longer than they save.
  static constexpr int64_t kSoloBytes = 64 * 1024;

  /// `units` counts what workers take at a time. With `lengths`, rows are not divided.
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

  bool idle = false;  ///< has nothing to do and takes part in no barrier
  bool meets = false; ///< has a barrier at each step
  int64_t rowBegin = 0, rowEnd;
  int64_t unitBegin = 0, unitEnd;
};

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
