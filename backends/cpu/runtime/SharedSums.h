// Partial sums that workers make side by side and one of them adds up in order. Compiled once per
// level.
#pragma once

#include <cstring>

#include "backends/cpu/runtime/StridedWalk.h"
#include "executor/device/Kernel.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

/// Places for sums on worker 0's stack. Kernels allocate nothing and these have no scratch operand,
/// so until the result is known its own memory (8 bytes at least) tells the other workers where the
/// places are.
class SharedSums {
public:
  static constexpr int64_t kPlaces = 1024;

  SharedSums(void *result, Worker &worker) : worker_(worker) {
    if (worker.index == 0) {
      places_ = own_;
      std::memcpy(result, &places_, sizeof(places_));
    }
    worker.barrier();
    std::memcpy(&places_, result, sizeof(places_));
  }

  /// Calls fill(i, places) for items 0 to n - 1, shared out over the workers. Worker 0 may read the
  /// places until its next call.
  template <typename F> void make(int64_t n, F fill) {
    worker_.barrier(); // worker 0 has read the last ones
    Share share(n, worker_.index, worker_.count);
    for (int64_t i = share.begin; i < share.end; ++i)
      fill(i, places_);
    worker_.barrier();
  }
  double operator[](int64_t i) const { return places_[i]; }

  /// From here on worker 0 may write the result.
  void finish() { worker_.barrier(); }

private:
  Worker &worker_;
  double *places_;
  double own_[kPlaces];
};

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
