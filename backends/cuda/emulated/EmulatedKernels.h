// The kernels of the cuda target on the emulated GPU, as functions of a host device.
#pragma once

#include <span>

#include "executor/device/Kernel.h"

namespace lstmc::cuda {

/// Null if there is no such kernel yet. The first worker runs the launch; an error in a kernel is
/// thrown as std::runtime_error with its text.
KernelFunction emulatedKernel(KernelId id, std::span<const Tensor> operands);

} // namespace lstmc::cuda
