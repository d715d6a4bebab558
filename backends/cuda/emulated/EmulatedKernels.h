// The kernels of the cuda target, compiled for the host.
#pragma once

#include <cstddef>
#include <string_view>

namespace lstmc::cuda {

struct EmulatedKernel {
  std::string_view name;
  void (*body)(const void *arguments);
  size_t argumentBytes;
};

/// Null if there is no such kernel.
const EmulatedKernel *findKernel(std::string_view name);

} // namespace lstmc::cuda
