// The cuda target's kernels on the emulated GPU, as functions of a host device.
#pragma once

#include <span>

#include "executor/device/Kernel.h"

namespace lstmc::cuda {

/// Null where there is no kernel yet. The first worker carries the launch out; a fault of a kernel
/// is thrown as std::runtime_error with its text.
KernelFunction emulatedKernel(KernelId id, std::span<const Tensor> operands);

} // namespace lstmc::cuda
