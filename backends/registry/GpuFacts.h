// The GPUs of this machine as `devices` shows them.
#pragma once

#include "backends/cuda/runtime/Cards.h"

namespace lstmc {

struct GpuFacts {
  std::vector<cuda::CardFacts> cards;
  std::string driver;   ///< its version where NVML says it, and that of CUDA
  std::string compiler; ///< of fused programs, NVRTC; or why there is none
  std::string missing;  ///< why there are no cards, or why nothing can run on them; may be empty
};

GpuFacts gpuFacts();

/// One of the emulated cards, which are all alike.
GpuFacts emulatedGpuFacts();

} // namespace lstmc
