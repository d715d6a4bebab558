// The kernels by group, one source file each; Reference.cpp makes the table of them.
#pragma once

#include "executor/device/KernelLaunch.h"

namespace lstmc::reference {

// Each is called by one worker alone.
#define LSTMC_KERNEL(ID, NAME, OPERANDS, INTS, FLOATS, MEANING)                                    \
  void run##ID(const ID##Launch &launch);
#include "executor/abi/Kernels.def"

} // namespace lstmc::reference
