// Partial sums that workers compute in parallel and one of them adds in order. Compiled once per
// level.
#pragma once

#include <cstring>

#include "backends/cpu/runtime/StridedWalk.h"
#include "executor/device/Kernel.h"
#include "executor/device/WorkerMemory.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

/// Memory for sums: the first of worker 0's own. Kernels allocate nothing, and these kernels have
/// no scratch operand. Until the result is known, its memory (at least 8 bytes) holds the address
/// of the sums, so that the other workers can find them.
class SharedSums {
public:
  static constexpr int64_t kPlaces = 1024;
  static constexpr size_t kBytes = kPlaces * sizeof(double); ///< of that memory

  SharedSums(void *result, Worker &worker) : worker_(worker) {
    if (worker.index == 0) {
      places_ = reinterpret_cast<double *>(workerMemory);
      std::memcpy(result, static_cast<const void *>(&places_), sizeof(places_));
    }
    worker.barrier();
    std::memcpy(static_cast<void *>(&places_), result, sizeof(places_));
  }

  /// Calls fill(i, places) for items 0 to n - 1, which the workers divide. Worker 0 may read the
  /// sums until its next call.
  template <typename F> void make(int64_t n, F fill) {
    worker_.barrier(); // worker 0 has read the sums of the last call
    Share share(n, worker_.index, worker_.count);
    for (int64_t i = share.begin; i < share.end; ++i)
      fill(i, places_);
    worker_.barrier();
  }
  double operator[](int64_t i) const { return places_[i]; }

  /// After this, worker 0 may write the result.
  void finish() { worker_.barrier(); }

private:
  Worker &worker_;
  double *places_;
};

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
