// The cuda target's kernels on the emulated GPU.
#include <gtest/gtest.h>

#include "backends/conformance/Conformance.h"
#include "backends/cuda/emulated/EmulatedKernels.h"

namespace lstmc::conformance {

/// One host thread runs all threads of the GPU.
static const Target kEmulated =
    hostTarget("emu", cuda::emulatedKernel, "backends/cuda/unsupported.txt", {1});

LSTMC_CONFORMANCE(EmulatedGpu, kEmulated);

} // namespace lstmc::conformance
