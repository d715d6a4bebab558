// Ranges that profilers show beside a GPU's kernels (NVTX).
#pragma once

#include "executor/base/Status.h"

namespace lstmc::cuda {

/// What a profiler put in place of the functions of NVTX.
struct Nvtx {
  int (*push)(const char *text) = nullptr; ///< begins a range of this thread
  int (*pop)() = nullptr;                  ///< ends the last one
};

/// Of the profiler in this file. E0503 where it is none, or wants no ranges. A file is loaded once
/// in a process.
Result<Nvtx> loadProfiler(const char *file);

/// Of the profiler that NVTX_INJECTION64_PATH names, which Nsight sets for what it starts; null
/// where none listens.
const Nvtx *machineProfiler();

/// A range for as long as it lives; nothing without a profiler.
class NvtxRange {
public:
  NvtxRange(const Nvtx *nvtx, const std::string &text) : nvtx_(nvtx) {
    if (nvtx_)
      nvtx_->push(text.c_str());
  }
  ~NvtxRange() {
    if (nvtx_)
      nvtx_->pop();
  }
  NvtxRange(const NvtxRange &) = delete;
  NvtxRange &operator=(const NvtxRange &) = delete;

private:
  const Nvtx *nvtx_;
};

} // namespace lstmc::cuda
