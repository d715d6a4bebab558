// Arguments of the kernels that make numbers from indices.
#pragma once

#include "backends/cuda/kernels/Operand.h"
#include "executor/abi/Kernels.h"

namespace lstmc::gpu {

/// One thread for each of the `count` elements of y.
struct ArangeArguments {
  Operand y;
  int64_t count, repeat;
  double start, step;
};

/// w is dense; kind is Constant, Uniform, Normal or LstmBias.
struct InitialiseArguments {
  Operand seed, w;
  int64_t count;
  InitKind kind;
  uint32_t ordinal;
  double a, b;
};

LSTMC_GPU_KERNEL(lstmc_arange, ArangeArguments, a);
LSTMC_GPU_KERNEL(lstmc_initialise, InitialiseArguments, a);

} // namespace lstmc::gpu
