// Which GPU kernels run a launch of a package, with their arguments and grid.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "backends/cuda/model/GpuShape.h"
#include "executor/device/Kernel.h"

namespace lstmc::cuda {

/// One kernel on the GPU.
struct GpuLaunch {
  std::string_view kernel; ///< "lstmc_product_f32"
  std::vector<std::byte> arguments;
  int64_t blocks = 1; ///< 0: there is nothing to do
  int threads = 128;
  int64_t sharedBytes = 0;
  bool cooperative = false;
  int cluster = 1;              ///< blocks of a cluster
  std::vector<std::byte> table; ///< what the kernel reads from memory of the device, besides
  size_t tableAt = 0;           ///< the byte of `arguments` where the address of the table goes
};

/// The kernels of a launch, which run one after the other; operands have addresses of the device.
/// Nothing if the host has to carry the launch out: an orthogonal initial value.
std::optional<std::vector<GpuLaunch>> gpuLaunches(KernelId id, const LaunchArgs &args,
                                                  const GpuShape &gpu);

} // namespace lstmc::cuda
