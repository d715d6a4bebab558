// Which GPU kernels run a launch of a package, with their arguments and grid.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "backends/cuda/model/GpuShape.h"
#include "executor/device/Kernel.h"

namespace lstmc::cuda {

/// A product that cuBLASLt carries out: for each of `matrices`, y [rows, columns] = x [rows, depth]
/// times w [depth, columns], + bias. Addresses are of f32 on the device; strides count elements.
struct LibraryProduct {
  int64_t matrices, rows, columns, depth;
  const void *x, *w, *bias; ///< bias may be null
  void *y, *workspace;
  int64_t xStride, yStride;          ///< of a row; those of w are `columns`
  int64_t xMatrix, wMatrix, yMatrix; ///< of a matrix
  int64_t workspaceBytes;
  RoundedTo roundedTo; ///< what the library may round x and w to
};

/// One kernel on the GPU, or a product of a library.
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
  std::optional<LibraryProduct> library = std::nullopt; ///< in place of all of the above
};

/// The kernels of a launch, which run one after the other; operands have addresses of the device.
/// Nothing if the host has to carry the launch out: an orthogonal initial value.
std::optional<std::vector<GpuLaunch>> gpuLaunches(KernelId id, const LaunchArgs &args,
                                                  const GpuShape &gpu);

} // namespace lstmc::cuda
