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

gpu::RnnBackwardArguments backwardOf(const RnnBackwardLaunch &launch) {
  return {layerOf(launch, 0),         sequenceOf(launch.gates), sequenceOf(launch.cells),
          sequenceOf(launch.y),       sequenceOf(launch.h0),    sequenceOf(launch.c0),
          sequenceOf(launch.before),  sequenceOf(launch.rt),    sequenceOf(launch.dy),
          sequenceOf(launch.dhN),     sequenceOf(launch.dcN),   sequenceOf(launch.dgates),
          sequenceOf(launch.dhidden), sequenceOf(launch.dh0),   sequenceOf(launch.dc0),
          operandOf(launch.length)};
}

/// And the product that makes dx, if it is wanted.
Launches withInputs(GpuLaunch backward, const RnnBackwardLaunch &launch) {
  std::vector<GpuLaunch> launches = {std::move(backward)};
  if (launch.dx)
    launches.push_back(productOf(launch.dgates, launch.wt, {}, launch.dx, true));
  return launches;
}

/// `names` are those for one sequence and for several, `sums` those of a block at a step.
template <typename Arguments>
GpuLaunch recurrenceOnChip(const std::string_view (&names)[2], const Arguments &arguments,
                           const OnChip &way, int64_t sums) {
  GpuLaunch launch = launchOf(names[way.rows > 1], arguments);
  const int64_t batch = arguments.layer.shape.batch;
  launch.blocks = (batch + way.rows - 1) / way.rows * way.cluster;
  launch.cluster = way.cluster;
  launch.threads = threadsFor(sums);
  launch.sharedBytes = way.sharedBytes;
  return launch;
}

} // namespace

Launches launchesOnChip(const RnnForwardLaunch &launch, const GpuShape &gpu) {
  const gpu::RnnForwardArguments layer = forwardOf(launch);
  if (launch.y.dtype != DType::F32 || layer.shape.batch == 0)
    return std::nullopt;
  const std::optional<OnChip> way = forwardOnChip(layer.shape, gpu);
  if (!way)
    return std::nullopt;
  const int64_t sums = int64_t(way->shape.share) * layer.shape.gates;
  return {{recurrenceOnChip({"lstmc_rnn_forward_on_chip_1_f32", "lstmc_rnn_forward_on_chip_4_f32"},
                            gpu::RnnForwardOnChipArguments{layer, way->shape}, *way, sums)}};
}

Launches launchesOnChip(const RnnBackwardLaunch &launch, const GpuShape &gpu) {
  const gpu::RnnBackwardArguments layer = backwardOf(launch);
  if (launch.y.dtype != DType::F32 || layer.shape.batch == 0)
    return std::nullopt;
  const std::optional<OnChip> way = backwardOnChip(layer.shape, gpu);
  if (!way)
    return std::nullopt;
  const int64_t sums = int64_t(way->shape.share) * way->rows;
  return withInputs(
      recurrenceOnChip({"lstmc_rnn_backward_on_chip_1_f32", "lstmc_rnn_backward_on_chip_4_f32"},
                       gpu::RnnBackwardOnChipArguments{layer, way->shape}, *way, sums),
      launch);
}

Launches launchesRnnForward(const RnnForwardLaunch &launch) {
  const gpu::RnnForwardArguments arguments = forwardOf(launch);
  return {{recurrence(kForward, launch.y.dtype, arguments, [&](int64_t rows) {
    return gpu::forwardSharedNumbers(rows, arguments.shape.units);
  })}};
}

Launches launchesRnnBackward(const RnnBackwardLaunch &launch) {
  const gpu::RnnBackwardArguments arguments = backwardOf(launch);
  return withInputs(recurrence(kBackward, launch.y.dtype, arguments,
                               [&](int64_t rows) {
                                 return gpu::backwardSharedNumbers(rows, arguments.shape.units,
                                                                   arguments.shape.gates);
                               }),
                    launch);
}

} // namespace lstmc::cuda
