#include "backends/cuda/kernels/Products.h"
#include "backends/cuda/runtime/Groups.h"
#include "executor/abi/Packing.h"

namespace lstmc::cuda {

Launches launchesPack(const PackLaunch &launch, const GpuShape &) {
  const Tensor &w = launch.w, &p = launch.p;
  int gates = std::max(1, int(launch.gates));
  int64_t count = w.shape[0] * packedElements(w.shape[1], w.shape[2], gates);
  return {{elementwise("lstmc_pack", gpu::PackArguments{operandOf(w), operandOf(p), count,
                                                        bytesOf(w.dtype), gates})}};
}

/// y [A, M, N] = x p + bias; with `oneMatrix`, p has one matrix for all A.
GpuLaunch productOf(const Tensor &x, const Tensor &p, const Tensor &bias, const Tensor &y,
                    bool oneMatrix) {
  int64_t panels = (y.shape[2] + kPanel - 1) / kPanel;
  int64_t rowBlocks = (y.shape[1] + gpu::kProductRows - 1) / gpu::kProductRows;
  bool wide = y.dtype == DType::F64;
  GpuLaunch launch = launchOf(wide ? "lstmc_product_f64" : "lstmc_product_f32",
                              gpu::ProductArguments{operandOf(x), operandOf(p), operandOf(bias),
                                                    operandOf(y), panels, rowBlocks, oneMatrix});
  launch.blocks = y.shape[0] * rowBlocks * panels;
  launch.threads = gpu::kProductThreads;
  launch.sharedBytes = wide ? gpu::productSharedBytes<double>() : gpu::productSharedBytes<float>();
  return launch;
}

Launches launchesProduct(const ProductLaunch &launch, const GpuShape &) {
  return {{productOf(launch.x, launch.p, launch.bias, launch.y, false)}};
}

} // namespace lstmc::cuda
