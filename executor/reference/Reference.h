// Every kernel in plain loops, f32 and f64: the results that all targets have to reproduce.
#pragma once

#include "executor/device/Kernel.h"

namespace lstmc::reference {

/// Defines the kernel's results. Takes the type from its operands and accepts any strides. Worker 0
/// does all the work; the others return at once. Allocates nothing.
KernelFunction kernel(KernelId id);

} // namespace lstmc::reference
