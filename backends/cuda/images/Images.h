// The kernels as nvcc compiled them.
#pragma once

#include <cstddef>
#include <span>

namespace lstmc::cuda {

/// One image for each file of kernels, as the driver loads it; none if the build had no nvcc.
std::span<const std::byte *const> kernelImages();

} // namespace lstmc::cuda
