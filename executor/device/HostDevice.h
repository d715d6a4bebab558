// A device made of this machine's memory and processors, for any set of host kernels.
#pragma once

#include <memory>
#include <string>

#include "executor/base/Arena.h"
#include "executor/device/Device.h"

namespace lstmc {

/// Picks the function for a launch by kernel and operands, once, when the launch is prepared; null
/// where the set has none. The null backend, the reference and each level of cpu are such sets.
using KernelChooser = KernelFunction (*)(KernelId, std::span<const Tensor> operands);

/// `threads` workers, the calling thread among them; 0: one per processor that this process may
/// use. `memory` is where the arena is from. E0901 when a thread cannot be had.
Result<std::unique_ptr<Device>> makeHostDevice(std::string name, KernelChooser choose, int threads,
                                               const MemorySource &memory = {});

} // namespace lstmc
