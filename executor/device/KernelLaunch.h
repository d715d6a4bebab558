// A launch as the function of its kernel takes it: operands and arguments by name.
#pragma once

#include "executor/abi/KernelArguments.h"
#include "executor/device/Kernel.h"

namespace lstmc {

/// SoftmaxLaunch: operands `x`, `length`, `y`, arguments `log`, `temperature`. An operand that is
/// absent is false. A group that repeats is in `repeated`, member after member. Lives no longer
/// than the LaunchArgs it is made from, `wire`.
#define LSTMC_OPERAND(NAME, MODE, OPTIONAL, ITSELF)                                                \
  const Tensor &NAME = wire.operand(Operand::NAME);
#define LSTMC_REPEATED(NAME, MODE)
#define LSTMC_KERNEL(ID, NAME, OPERANDS, INTS, FLOATS, MEANING)                                    \
  struct ID##Launch : ID##Arguments {                                                              \
    using Operand = ID##Operand;                                                                   \
    LSTMC_ALWAYS_INLINE explicit ID##Launch(const LaunchArgs &args)                                \
        : ID##Arguments(argumentsOf<ID##Arguments>(args)), wire(args) {}                           \
    const LaunchArgs &wire;                                                                        \
    OPERANDS const std::span<const Tensor> repeated = wire.repeated(Operand::kFixed);              \
  };
#include "executor/abi/Kernels.def"

} // namespace lstmc
