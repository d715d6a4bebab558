#include <algorithm>
#include <iterator>

#include "backends/cuda/model/RecurrenceWay.h"
#include "backends/cuda/runtime/Groups.h"
#include "backends/cuda/runtime/ProjectedRecurrence.h"
#include "executor/abi/Packing.h"
#include "executor/abi/Scratch.h"

namespace lstmc::cuda {

gpu::Sequence sequenceOf(const Tensor &tensor) {
  gpu::Sequence sequence = {tensor.data, {}};
  std::copy_n(tensor.strides.begin(), size_t(std::min(tensor.rank, 3)), sequence.strides);
  return sequence;
}

namespace {

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

template <typename Arguments>
GpuLaunch throughCache(const Kernels &kernels, DType type, const Arguments &arguments,
                       const RecurrenceWay &way) {
  GpuLaunch launch = launchOf(kernels[way.rows > 1][type == DType::F64], arguments);
  launch.blocks = (arguments.shape.batch + way.rows - 1) / way.rows;
  launch.threads = threadsFor(arguments.shape.units);
  launch.sharedBytes = way.sharedBytes;
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

/// What a library may use of a launch's scratch: what follows the kernel's own.
struct LibraryScratch {
  std::byte *begin;
  int64_t bytes;

  LibraryScratch(const Tensor &scratch, int64_t own)
      : begin(scratch.as<std::byte>() + roundUp(own, kAlignment)),
        bytes(scratch.shape[0] - roundUp(own, kAlignment)) {}
};

/// And the product that makes dx, if it is wanted.
Launches withInputs(std::vector<GpuLaunch> launches, const RnnBackwardLaunch &launch,
                    const GpuShape &gpu) {
  if (!launch.dx)
    return launches;
  std::vector<GpuLaunch> product;
  if (gpu.fast.cublasLt) {
    const LibraryScratch scratch(launch.scratch,
                                 scratchOf(RnnBackwardArguments{.mode = launch.mode,
                                                                .reverse = launch.reverse,
                                                                .chunk = launch.chunk},
                                           launch.y.shape[1], launch.y.shape[2],
                                           int64_t(dtypeBytes(launch.y.dtype)))
                                     .bytes);
    product = libraryProductOf(launch.dgates, launch.wt, {}, launch.dx, true, 1, scratch.begin,
                               scratch.bytes, gpu.fast.roundedTo);
  }
  if (product.empty())
    product = {productOf(launch.dgates, launch.wt, {}, launch.dx, true, gpu)};
  std::ranges::move(product, std::back_inserter(launches));
  return launches;
}

/// W x of all steps by cuBLASLt, in the place of the gates, or in the scratch if that has room for
/// it and for R h of a step; nothing where the kernel has to make it. `layer` is told.
std::vector<GpuLaunch> projectedByLibrary(const RnnForwardLaunch &launch,
                                          gpu::RnnForwardArguments &layer, RoundedTo roundedTo) {
  const gpu::LayerShape &shape = layer.shape;
  const int64_t width = shape.gates * shape.units;
  Tensor projected = launch.gates;
  if (!projected && launch.chunk > shape.steps) {
    projected.data = launch.scratch.data;
    projected.dtype = launch.y.dtype;
    projected.rank = 3;
    projected.shape = {shape.steps, shape.batch, width};
    projected.strides = {shape.batch * width, width, 1};
  }
  if (!projected)
    return {};
  const LibraryScratch scratch(launch.scratch,
                               scratchOf(RnnForwardArguments{.mode = launch.mode,
                                                             .reverse = launch.reverse,
                                                             .chunk = launch.chunk},
                                         shape.batch, shape.units,
                                         int64_t(dtypeBytes(launch.y.dtype)), bool(launch.gates))
                                   .bytes);
  auto launches = libraryProductOf(launch.x, launch.w, {}, projected, true, shape.gates,
                                   scratch.begin, scratch.bytes, roundedTo);
  if (!launches.empty()) {
    layer.projected = sequenceOf(projected);
    layer.shape.inputs = 0;
  }
  return launches;
}

using Kind = RecurrenceWay::Kind;

} // namespace

Launches launchesRnnForward(const RnnForwardLaunch &launch, const GpuShape &gpu) {
  gpu::RnnForwardArguments layer = forwardOf(launch);
  std::vector<GpuLaunch> launches;
  if (gpu.fast.cublasLt)
    launches = projectedByLibrary(launch, layer, gpu.fast.roundedTo);
  const RecurrenceWay way = recurrenceWay(layer.shape, Direction::Forward, launch.y.dtype, gpu);
  std::vector<GpuLaunch> steps =
      way.kind == Kind::ThroughCache
          ? std::vector{throughCache(kForward, launch.y.dtype, layer, way)}
          : forwardProjected(launch, layer, way, gpu);
  std::ranges::move(steps, std::back_inserter(launches));
  return launches;
}

Launches launchesRnnBackward(const RnnBackwardLaunch &launch, const GpuShape &gpu) {
  const gpu::RnnBackwardArguments layer = backwardOf(launch);
  const RecurrenceWay way = recurrenceWay(layer.shape, Direction::Backward, launch.y.dtype, gpu);
  if (way.kind == Kind::StepByStep)
    return withInputs(backwardStepByStep(launch, layer, gpu), launch, gpu);
  return withInputs({way.kind == Kind::ThroughCache
                         ? throughCache(kBackward, launch.y.dtype, layer, way)
                         : backwardOnChip(layer, way, gpu)},
                    launch, gpu);
}

} // namespace lstmc::cuda
