// The instructions of a fused program with the types of what they read.
#pragma once

#include <optional>
#include <vector>

#include "backends/cuda/kernels/Fused.h"
#include "executor/abi/FusedProgram.h"

namespace lstmc::cuda {

/// The type of a value: an operand's as it is loaded, or an instruction's.
DType typeOfValue(const FusedProgram &program, size_t value);

/// Nothing if an operation does not have the types that the check of packages wants.
std::optional<std::vector<gpu::FusedStep>> fusedSteps(const FusedProgram &program);

} // namespace lstmc::cuda
