// Fused programs as text in CUDA C++.
#pragma once

#include <span>
#include <string>

#include "executor/abi/FusedProgram.h"

namespace lstmc::cuda {

/// The name of the kernel of program number `program`: "lstmc_fused_3".
std::string fusedKernelName(size_t program);

/// A source file with a kernel for each program that has the types that the check of packages
/// wants. It takes the arguments of the interpreter (kernels/Fused.h), and its table. The same
/// programs always give the same text.
std::string fusedText(std::span<const FusedProgram> programs);

} // namespace lstmc::cuda
