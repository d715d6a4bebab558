// Which GPU kernels run a launch of a package, with their arguments and grid.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "executor/device/Kernel.h"

namespace lstmc::cuda {

/// One kernel on the GPU.
struct GpuLaunch {
  std::string_view kernel; ///< "lstmc_product_f32"
  std::vector<std::byte> arguments;
  int64_t blocks = 1; ///< 0: there is nothing to do
  int threads = 128, sharedBytes = 0;
  bool cooperative = false;
};

/// The kernels of a launch, which run one after the other.
using LaunchMaker = std::vector<GpuLaunch> (*)(const LaunchArgs &);

/// Null if there is no kernel for such operands yet (unsupported.txt).
LaunchMaker launchMaker(KernelId id, std::span<const Tensor> operands);

} // namespace lstmc::cuda
