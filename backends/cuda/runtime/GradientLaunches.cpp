#include <cstddef>

#include "backends/cuda/kernels/TiledProducts.h"
#include "backends/cuda/model/ProductWay.h"
#include "backends/cuda/runtime/Groups.h"

namespace lstmc::cuda {

namespace {

gpu::GradientUse useOf(const Tensor &dy, const Tensor &x) {
  gpu::GradientUse use = {};
  use.dy = dy.data;
  use.x = x.data;
  std::copy_n(dy.strides.begin(), 4, use.dyStrides);
  std::copy_n(x.strides.begin(), 4, use.xStrides);
  use.outer = dy.shape[0];
  use.inner = dy.shape[2];
  use.indexType = x && x.rank == 3 ? int32_t(x.dtype) : -1;
  return use;
}

int64_t termsOf(const gpu::GradientUse &use, const ShardRange &range) {
  return use.outer * use.inner * range.batch;
}

/// Tiles have products of f32, whose terms are counted in 32 bits; an embedding has none. The
/// answer depends on nothing that differs from device to device, because tensor cores have other
/// bits.
bool hasTiles(const Tensor &dw, const std::vector<gpu::GradientUse> &uses,
              const ShardRange &range) {
  return dw.dtype == DType::F32 && std::ranges::all_of(uses, [&](const gpu::GradientUse &use) {
           return use.indexType < 0 && termsOf(use, range) < int64_t(1) << 31;
         });
}

bool goesByTiles(const Tensor &dw, const std::vector<gpu::GradientUse> &uses,
                 const ShardRange &range, const GpuShape &gpu) {
  if (gpu.fast.usesTensorCores())
    return true;
  int64_t terms = 0;
  for (const gpu::GradientUse &use : uses)
    terms += termsOf(use, range);
  return productWay({.matrices = 1, .rows = dw.shape[0], .columns = dw.shape[1], .depth = terms},
                    gpu)
      .tiles;
}

GpuLaunch tiledGradient(const Tensor &y, const Tensor &begin, const ShardRange &range,
                        const std::vector<gpu::GradientUse> &uses, RoundedTo roundedTo) {
  constexpr std::string_view kKernels[][2] = {
      {"lstmc_weight_gradient_tiles_f32", "lstmc_weight_gradient_many_tiles_f32"},
      {"lstmc_weight_gradient_tf32", "lstmc_weight_gradient_many_tf32"},
      {"lstmc_weight_gradient_bf16", "lstmc_weight_gradient_many_bf16"},
      {"lstmc_weight_gradient_fp16", "lstmc_weight_gradient_many_fp16"}};
  const bool many = range.count >> gpu::kFewLevels;
  const auto tiles = [](int64_t extent) { return (extent + gpu::kTile - 1) / gpu::kTile; };
  const gpu::TensorGradientArguments arguments = {
      {operandOf(y), operandOf(begin), {}, int64_t(uses.size()), y.elements(), range},
      tiles(y.shape[1])};
  GpuLaunch launch = launchOf(kKernels[int(roundedTo)][many], arguments);
  launch.blocks = tiles(y.shape[0]) * arguments.columnBlocks;
  launch.threads = gpu::kTileThreads;
  launch.sharedBytes = gpu::kTilesSharedBytes;
  return withTable(std::move(launch), uses,
                   offsetof(gpu::TensorGradientArguments, gradient) +
                       offsetof(gpu::GradientArguments, uses));
}

GpuLaunch gradient(std::string_view kernel, const Tensor &y, const Tensor &begin,
                   const ShardRange &range, const std::vector<gpu::GradientUse> &uses) {
  const gpu::GradientArguments arguments = {operandOf(y),         operandOf(begin), {},
                                            int64_t(uses.size()), y.elements(),     range};
  return withTable(elementwise(kernel, arguments), uses, offsetof(gpu::GradientArguments, uses));
}

} // namespace

Launches launchesWeightGradient(const WeightGradientLaunch &launch, const GpuShape &gpu) {
  std::vector<gpu::GradientUse> uses;
  for (size_t i = 0; i < launch.repeated.size(); i += 2)
    uses.push_back(useOf(launch.repeated[i], launch.repeated[i + 1]));
  if (hasTiles(launch.dw, uses, launch.range) && goesByTiles(launch.dw, uses, launch.range, gpu))
    return {{tiledGradient(launch.dw, launch.begin, launch.range, uses, gpu.fast.roundedTo)}};
  const bool wide = launch.dw.dtype == DType::F64;
  return {{gradient(wide ? "lstmc_weight_gradient_f64" : "lstmc_weight_gradient_f32", launch.dw,
                    launch.begin, launch.range, uses)}};
}

Launches launchesBiasGradient(const BiasGradientLaunch &launch, const GpuShape &) {
  std::vector<gpu::GradientUse> uses;
  for (const Tensor &dy : launch.repeated)
    uses.push_back(useOf(dy, {}));
  const bool wide = launch.db.dtype == DType::F64;
  return {{gradient(wide ? "lstmc_bias_gradient_f64" : "lstmc_bias_gradient_f32", launch.db,
                    launch.begin, launch.range, uses)}};
}

} // namespace lstmc::cuda
