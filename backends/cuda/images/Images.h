// The kernels as nvcc compiled them.
#pragma once

#include <span>

#include "backends/cuda/runtime/KernelImage.h"

namespace lstmc::cuda {

/// Of each file of kernels; none if the build had no nvcc.
std::span<const KernelImage> kernelImages();

} // namespace lstmc::cuda
