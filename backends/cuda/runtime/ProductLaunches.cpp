#include "backends/cuda/kernels/TiledProducts.h"
#include "backends/cuda/model/ProductWay.h"
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

namespace {

/// Whether tiles go over the rows of all A, whose numbers, and those of the rows that the last tile
/// has beyond them, are of 32 bits.
bool isFlat(const Tensor &y, bool oneMatrix) {
  return oneMatrix && y.shape[0] * y.shape[1] <= (int64_t(1) << 31) - gpu::kTile;
}

/// Kernels whose blocks have kTile rows and columns: of tensor cores, and of exact tiles.
GpuLaunch tiledProductOf(std::string_view kernel, const Tensor &x, const Tensor &p,
                         const Tensor &bias, const Tensor &y, bool oneMatrix, int gates) {
  const auto upwards = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  const bool flat = isFlat(y, oneMatrix);
  const int64_t panels = upwards(y.shape[2] / gates, kPanel);
  const int64_t rowBlocks = upwards(flat ? y.shape[0] * y.shape[1] : y.shape[1], gpu::kTile);
  const int64_t columnBlocks = upwards(panels * gates * kPanel, gpu::kTile);
  GpuLaunch launch =
      launchOf(kernel, gpu::TensorProductArguments{{operandOf(x), operandOf(p), operandOf(bias),
                                                    operandOf(y), panels, rowBlocks, oneMatrix},
                                                   columnBlocks,
                                                   gates,
                                                   flat});
  launch.blocks = (flat ? 1 : y.shape[0]) * rowBlocks * columnBlocks;
  launch.threads = gpu::kTileThreads;
  launch.sharedBytes = gpu::kTilesSharedBytes;
  return launch;
}

bool goesByTiles(const Tensor &x, const Tensor &y, bool oneMatrix, const GpuShape &gpu) {
  const bool flat = isFlat(y, oneMatrix);
  return productWay({.matrices = flat ? 1 : y.shape[0],
                     .rows = flat ? y.shape[0] * y.shape[1] : y.shape[1],
                     .columns = y.shape[2],
                     .depth = x.shape[2]},
                    gpu)
      .tiles;
}

} // namespace

GpuLaunch productOf(const Tensor &x, const Tensor &p, const Tensor &bias, const Tensor &y,
                    bool oneMatrix, const GpuShape &gpu, int gates) {
  constexpr std::string_view kOfRules[] = {"", "lstmc_product_tf32", "lstmc_product_bf16",
                                           "lstmc_product_fp16"};
  int64_t panels = (y.shape[2] / gates + kPanel - 1) / kPanel;
  int64_t rowBlocks = (y.shape[1] + gpu::kProductRows - 1) / gpu::kProductRows;
  bool wide = y.dtype == DType::F64;
  if (gpu.fast.usesTensorCores() && !wide)
    return tiledProductOf(kOfRules[int(gpu.fast.roundedTo)], x, p, bias, y, oneMatrix, gates);
  if (!wide && goesByTiles(x, y, oneMatrix, gpu))
    return tiledProductOf("lstmc_product_tiles_f32", x, p, bias, y, oneMatrix, gates);
  GpuLaunch launch =
      launchOf(wide ? "lstmc_product_f64" : "lstmc_product_f32",
               gpu::ProductArguments{operandOf(x), operandOf(p), operandOf(bias), operandOf(y),
                                     panels, rowBlocks, oneMatrix, gates});
  launch.blocks = y.shape[0] * rowBlocks * panels * gates;
  launch.threads = gpu::kProductThreads;
  launch.sharedBytes = wide ? gpu::productSharedBytes<double>() : gpu::productSharedBytes<float>();
  return launch;
}

Launches launchesProduct(const ProductLaunch &launch, const GpuShape &gpu) {
  if (gpu.fast.cublasLt && launch.scratch)
    if (auto launches = libraryProductOf(launch.x, launch.p, launch.bias, launch.y, false, 1,
                                         launch.scratch.as<std::byte>(), launch.scratch.shape[0],
                                         gpu.fast.roundedTo);
        !launches.empty())
      return launches;
  return {{productOf(launch.x, launch.p, launch.bias, launch.y, false, gpu)}};
}

} // namespace lstmc::cuda
