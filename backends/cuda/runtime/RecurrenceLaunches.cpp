#include "backends/cuda/kernels/Recurrence.h"
#include "backends/cuda/runtime/Groups.h"

namespace lstmc::cuda {

namespace {

/// Shared memory that a block may have on every GPU from sm_80 on.
constexpr int64_t kSharedBytes = 99 * 1024;

gpu::Sequence sequenceOf(const Tensor &tensor) {
  gpu::Sequence sequence = {tensor.data, {}};
  std::copy_n(tensor.strides.begin(), size_t(std::min(tensor.rank, 3)), sequence.strides);
  return sequence;
}

template <typename Launch> gpu::LayerShape layerOf(const Launch &launch, int64_t inputs) {
  const Tensor &y = launch.y;
  return {y.shape[0],    y.shape[1], inputs, y.shape[2], launch.mode, gateCount(launch.mode),
          launch.reverse};
}

/// Kernels for one sequence per block, and for several; each for f32 and f64.
using Kernels = std::string_view[2][2];
constexpr Kernels kForward = {{"lstmc_rnn_forward_1_f32", "lstmc_rnn_forward_1_f64"},
                              {"lstmc_rnn_forward_4_f32", "lstmc_rnn_forward_4_f64"}};
constexpr Kernels kBackward = {{"lstmc_rnn_backward_1_f32", "lstmc_rnn_backward_1_f64"},
                               {"lstmc_rnn_backward_4_f32", "lstmc_rnn_backward_4_f64"}};

/// `sharedNumbers(rows)` are in the shared memory of a block with so many sequences. Takes as many
/// as fit.
template <typename Arguments, typename Numbers>
GpuLaunch recurrence(const Kernels &kernels, DType type, const Arguments &arguments,
                     Numbers sharedNumbers) {
  auto sharedBytes = [&](int64_t rows) { return sharedNumbers(rows) * bytesOf(type); };
  bool fits = sharedBytes(gpu::kRows) <= kSharedBytes && arguments.shape.batch > 1;
  int64_t rows = fits ? gpu::kRows : 1;
  GpuLaunch launch = launchOf(kernels[fits][type == DType::F64], arguments);
  launch.blocks = (arguments.shape.batch + rows - 1) / rows;
  launch.threads = threadsFor(arguments.shape.units);
  launch.sharedBytes = sharedBytes(rows);
  return launch;
}

gpu::RnnForwardArguments forwardOf(const RnnForwardLaunch &launch) {
  return {layerOf(launch, launch.x.shape[2]),
          sequenceOf(launch.x),
          sequenceOf(launch.w),
          sequenceOf(launch.r),
          sequenceOf(launch.bi),
          sequenceOf(launch.bh),
          sequenceOf(launch.h0),
          sequenceOf(launch.c0),
          sequenceOf(launch.y),
          sequenceOf(launch.hN),
          sequenceOf(launch.cN),
          sequenceOf(launch.gates),
          sequenceOf(launch.cells),
          sequenceOf(launch.before),
          operandOf(launch.length)};
}

} // namespace

Launches launchesOnChip(const RnnForwardLaunch &launch, const GpuShape &gpu) {
  const gpu::RnnForwardOnChipArguments layer = {forwardOf(launch), {}};
  const gpu::LayerShape &shape = layer.layer.shape;
  if (launch.y.dtype != DType::F32 || shape.batch == 0)
    return std::nullopt;
  const std::optional<OnChip> way = forwardOnChip(shape, gpu);
  if (!way)
    return std::nullopt;
  GpuLaunch chip = launchOf(way->rows == 1 ? "lstmc_rnn_forward_on_chip_1_f32"
                                           : "lstmc_rnn_forward_on_chip_4_f32",
                            gpu::RnnForwardOnChipArguments{layer.layer, way->shape});
  chip.blocks = (shape.batch + way->rows - 1) / way->rows * way->cluster;
  chip.cluster = way->cluster;
  chip.threads = threadsFor(int64_t(way->shape.share) * shape.gates);
  chip.sharedBytes = way->sharedBytes;
  return {{std::move(chip)}};
}

Launches launchesRnnForward(const RnnForwardLaunch &launch) {
  const gpu::RnnForwardArguments arguments = forwardOf(launch);
  return {{recurrence(kForward, launch.y.dtype, arguments, [&](int64_t rows) {
    return gpu::forwardSharedNumbers(rows, arguments.shape.units);
  })}};
}

Launches launchesRnnBackward(const RnnBackwardLaunch &launch) {
  gpu::RnnBackwardArguments arguments = {
      layerOf(launch, 0),         sequenceOf(launch.gates), sequenceOf(launch.cells),
      sequenceOf(launch.y),       sequenceOf(launch.h0),    sequenceOf(launch.c0),
      sequenceOf(launch.before),  sequenceOf(launch.rt),    sequenceOf(launch.dy),
      sequenceOf(launch.dhN),     sequenceOf(launch.dcN),   sequenceOf(launch.dgates),
      sequenceOf(launch.dhidden), sequenceOf(launch.dh0),   sequenceOf(launch.dc0),
      operandOf(launch.length)};
  std::vector<GpuLaunch> launches = {
      recurrence(kBackward, launch.y.dtype, arguments, [&](int64_t rows) {
        return gpu::backwardSharedNumbers(rows, arguments.shape.units, arguments.shape.gates);
      })};
  if (launch.dx)
    launches.push_back(productOf(launch.dgates, launch.wt, {}, launch.dx, true));
  return launches;
}

} // namespace lstmc::cuda
