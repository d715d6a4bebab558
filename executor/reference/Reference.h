// The answer key: every kernel in plain loops, f32 and f64.
#pragma once

#include "executor/device/Kernel.h"

namespace lstmc::reference {

/// The kernel's meaning. Picks the type from its operands and takes any strides; worker 0 does all
/// the work and the others return at once. Allocates nothing.
KernelFunction kernel(KernelId id);

} // namespace lstmc::reference
