// What a launch reads besides its operands, in bytes: the same answer when a plan is made and when
// a package is loaded.
#pragma once

#include <cstdint>

#include "executor/abi/Kernels.h"

namespace lstmc::cuda {

/// At most, for a launch of so many operands, none of a higher rank, with so many integers, and a
/// program of so many instructions, if it is fused.
int64_t tableBytes(KernelId kernel, int64_t operands, int64_t rank, int64_t ints,
                   int64_t instructions);

} // namespace lstmc::cuda
