// Files of kernels, compiled, and which of them has a kernel.
#pragma once

#include <cstddef>
#include <string_view>

namespace lstmc::cuda {

struct KernelImage {
  std::string_view file;  ///< as kernels/Entries.def names it
  const std::byte *bytes; ///< as the driver loads it
};

/// The file of a kernel; "" if there is no such kernel.
constexpr std::string_view fileOfKernel(std::string_view name) {
#define LSTMC_GPU_ENTRY(NAME, FILE)                                                                \
  if (name == #NAME)                                                                               \
    return #FILE;
#include "backends/cuda/kernels/Entries.def"
  return "";
}

} // namespace lstmc::cuda
