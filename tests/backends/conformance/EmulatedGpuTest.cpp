// The cuda target on an emulated GPU.
#include <gtest/gtest.h>

#include "backends/conformance/Conformance.h"
#include "backends/cpu/runtime/KernelTable.h"
#include "backends/cuda/emulated/EmulatedDriver.h"
#include "backends/cuda/runtime/GpuDevice.h"

namespace lstmc::conformance {

/// One host thread runs all threads of the GPU.
static const Target kEmulated{
    "emu",
    [](int) {
      return cuda::makeGpuDevice("emu:0", cuda::emulatedDriver(),
                                 {.onHost = [](KernelId id, std::span<const Tensor> operands) {
                                   return cpu::kernelTable(cpu::machineLevel()).find(id, operands);
                                 }});
    },
    "",
    {1}};

LSTMC_CONFORMANCE(EmulatedGpu, kEmulated);

} // namespace lstmc::conformance
