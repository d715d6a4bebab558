// NVIDIA's management library as a table of function pointers: what the driver's table does not
// say of a GPU.
#pragma once

#include "executor/base/Status.h"

namespace lstmc::cuda {

// As the library's binary interface has them.
using NvmlResult = int; ///< 0: done
using NvmlCard = struct OpaqueNvmlCard *;
struct NvmlMemory {
  unsigned long long total, free, used; ///< bytes
};
struct NvmlUtilization {
  unsigned busy, memoryBusy; ///< percent of the last moments in which a kernel ran, memory was used
};

// Of clock and mostClock; of peerStatus: whether NVLink joins two cards, and that it does; of
// linkState: that a link is active; links are numbered from 0.
inline constexpr int kMultiprocessorClock = 1, kMemoryClock = 2;
inline constexpr int kByNvLink = 2, kPeerOk = 0, kLinkActive = 1;
inline constexpr unsigned kMostNvLinks = 36;

struct Nvml {
#define LSTMC_NVML(FIELD, SYMBOL, PARAMETERS) NvmlResult(*FIELD) PARAMETERS = nullptr;
#include "backends/cuda/runtime/Nvml.def"
};

/// The library of this name, ready to be asked. E0503 says what is missing.
Result<Nvml> loadNvml(const char *library);

/// That of this machine, loaded at the first call.
Result<const Nvml *> machineNvml();

} // namespace lstmc::cuda
