// The kernels in groups, with one source file each; Reference.cpp makes the table of all.
#pragma once

#include "executor/device/KernelLaunch.h"

namespace lstmc::reference {

// Only one worker calls each of these functions.
#define LSTMC_KERNEL(ID, NAME, OPERANDS, INTS, FLOATS, MEANING)                                    \
  void run##ID(const ID##Launch &launch);
#include "executor/abi/Kernels.def"

} // namespace lstmc::reference
