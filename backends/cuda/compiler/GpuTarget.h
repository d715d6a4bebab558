// The compiler's half of the target of GPUs.
#pragma once

#include "backends/target/Target.h"

namespace lstmc::cuda {

/// Of real and of emulated GPUs: an emulated one is planned for as the GPU that it stands for.
/// Where a cluster's description names none, it is the first of Cards.def as its data sheet
/// describes it; nothing was measured.
const target::Target &gpuTarget();

} // namespace lstmc::cuda
