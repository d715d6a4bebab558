// The compiler's half of the target of GPUs.
#pragma once

#include "backends/target/Target.h"

namespace lstmc::cuda {

/// Of real and of emulated GPUs: an emulated one is planned for as the GPU that it stands for. The
/// GPU is an H100 as its data sheet describes it, where a cluster's description says nothing else;
/// nothing was measured.
const target::Target &gpuTarget();

} // namespace lstmc::cuda
