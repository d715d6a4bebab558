#include "backends/cuda/runtime/ProjectedRecurrence.h"

#include "backends/cuda/kernels/RecurrenceOnChip.h"
#include "backends/cuda/kernels/RecurrenceSteps.h"
#include "backends/cuda/kernels/RecurrenceTensor.h"
#include "executor/abi/Scratch.h"

namespace lstmc::cuda {

namespace {

template <typename Arguments>
GpuLaunch inClusters(std::string_view kernel, const Arguments &arguments, const RecurrenceWay &way,
                     int64_t threads) {
  GpuLaunch launch = launchOf(kernel, arguments);
  launch.blocks = (arguments.layer.shape.batch + way.rows - 1) / way.rows * way.cluster;
  launch.cluster = way.cluster;
  launch.threads = int(threads);
  launch.sharedBytes = way.sharedBytes;
  return launch;
}

/// A warp has `units` units.
int64_t tensorThreads(const RecurrenceWay &way, int units) { return way.chip.share / units * 32; }

/// Of the kernels in f32, by the sequences of a cluster and the most threads of a block.
using OnChipKernels = std::string_view[2][2];
constexpr OnChipKernels kForwardOnChip = {
    {"lstmc_rnn_forward_on_chip_1_256_f32", "lstmc_rnn_forward_on_chip_1_512_f32"},
    {"lstmc_rnn_forward_on_chip_4_256_f32", "lstmc_rnn_forward_on_chip_4_512_f32"}};
constexpr OnChipKernels kBackwardOnChip = {
    {"lstmc_rnn_backward_on_chip_1_256_f32", "lstmc_rnn_backward_on_chip_1_512_f32"},
    {"lstmc_rnn_backward_on_chip_4_256_f32", "lstmc_rnn_backward_on_chip_4_512_f32"}};
std::string_view kernelOf(const OnChipKernels &kernels, const RecurrenceWay &way) {
  return kernels[way.rows > 1][way.threads > gpu::kOnChipThreads[0]];
}

/// A view of so many steps, at these strides.
Tensor stepsOf(std::byte *data, DType type, int64_t steps, int64_t batch, int64_t width) {
  Tensor tensor;
  tensor.data = data;
  tensor.dtype = type;
  tensor.rank = 3;
  tensor.shape = {steps, batch, width};
  tensor.strides = {batch * width, width, 1};
  return tensor;
}
Tensor slicedSteps(Tensor sequence, int64_t first, int64_t count) {
  sequence.data =
      sequence.as<std::byte>() + first * sequence.strides[0] * int64_t(dtypeBytes(sequence.dtype));
  sequence.shape[0] = count;
  return sequence;
}

gpu::Sequence stateAt(std::byte *scratch, DType type, int64_t number, int64_t width) {
  return {scratch + number * int64_t(dtypeBytes(type)), {width, 1, 0}};
}
/// A state as a sequence of one step.
Tensor stateTensor(const gpu::Sequence &state, DType type, int64_t batch, int64_t width) {
  Tensor tensor = stepsOf(static_cast<std::byte *>(state.data), type, 1, batch, width);
  tensor.strides = {0, state.strides[0], state.strides[1]};
  return tensor;
}

/// Forward with a product of its own for W x of many steps at once, then these steps, and so on.
/// W x is where the gates go, if they are kept, and else in the scratch, which has room for `chunk`
/// steps and for the state between them. Step by step, one of these steps is R h. Where a library
/// has made W x of all steps (layer.projected), the steps alone.
class Projected {
public:
  Projected(const RnnForwardLaunch &launch, const gpu::RnnForwardArguments &layer,
            const RecurrenceWay &way, const GpuShape &gpu)
      : launch_(launch), layer_(layer), shape_(layer.shape), way_(way), gpu_(gpu),
        type_(launch.y.dtype),
        sizes_(scratchOf(
            RnnForwardArguments{
                .mode = launch.mode, .reverse = launch.reverse, .chunk = launch.chunk},
            layer.shape.batch, layer.shape.units, int64_t(dtypeBytes(type_)), bool(launch.gates))),
        scratch_(launch.scratch.as<std::byte>()), width_(shape_.gates * shape_.units),
        projected_(projectedSteps()) {}

  std::vector<GpuLaunch> launches() {
    if (layer_.projected) { // a library has made it
      advance(0, shape_.steps, layer_.projected);
      return std::move(all_);
    }
    const int64_t most = launch_.gates ? shape_.steps : projected_;
    for (int64_t begin = 0; begin < shape_.steps; begin += most) {
      const int64_t end = std::min(begin + most, shape_.steps), count = end - begin;
      const int64_t first = shape_.reverse ? shape_.steps - end : begin;
      const Tensor projected = launch_.gates
                                   ? slicedSteps(launch_.gates, first, count)
                                   : stepsOf(scratch_, type_, count, shape_.batch, width_);
      all_.push_back(productOf(slicedSteps(launch_.x, first, count), launch_.w, {}, projected, true,
                               gpu_, shape_.gates));
      advance(begin, end, sequenceOf(slicedSteps(projected, -first, count)));
    }
    return std::move(all_);
  }

private:
  /// `projected` begins with step 0, whichever steps it has.
  void advance(int64_t begin, int64_t end, const gpu::Sequence &projected) {
    if (way_.kind != RecurrenceWay::Kind::StepByStep)
      return onChip(begin, end, projected);
    for (int64_t index = begin; index < end; ++index)
      step(index, projected);
  }

  /// Steps whose W x is in the scratch.
  int64_t projectedSteps() const {
    if (launch_.gates)
      return 0;
    if (layer_.projected)
      return shape_.steps;
    const int64_t ofProducts = way_.kind == RecurrenceWay::Kind::StepByStep ? 1 : 0;
    return std::max<int64_t>(launch_.chunk - ofProducts, 1);
  }

  void onChip(int64_t begin, int64_t end, const gpu::Sequence &projected) {
    gpu::RnnForwardOnChipArguments arguments = {layer_, way_.chip, begin, end, projected};
    if (begin > 0) {
      arguments.layer.h0 = state(sizes_.h);
      arguments.layer.c0 = state(sizes_.c);
    }
    if (end < shape_.steps) {
      arguments.layer.hN = state(sizes_.h);
      arguments.layer.cN = state(sizes_.c);
    }
    if (way_.kind == RecurrenceWay::Kind::TensorCores)
      return all_.push_back(inClusters(gpu_.fast.roundedTo == RoundedTo::Bf16
                                           ? "lstmc_rnn_forward_bf16"
                                           : "lstmc_rnn_forward_fp16",
                                       arguments, way_, tensorThreads(way_, gpu::kForwardUnits)));
    const gpu::ChipSums sums =
        gpu::forwardSums(shape_.units, shape_.gates, way_.chip, way_.threads);
    all_.push_back(inClusters(kernelOf(kForwardOnChip, way_), arguments, way_,
                              gpu::onChipThreads(sums, way_.rows, way_.chip)));
  }

  void step(int64_t index, const gpu::Sequence &projected) {
    const bool first = index == 0, last = index + 1 == shape_.steps;
    gpu::CellForwardArguments cell = {.layer = layer_, .projected = projected};
    cell.h = first ? layer_.h0 : state(index % 2 ? sizes_.h : sizes_.nextH);
    cell.c = first ? layer_.c0 : state(sizes_.c);
    cell.hNext = last ? layer_.hN : state(index % 2 ? sizes_.nextH : sizes_.h);
    cell.cNext = last ? layer_.cN : state(sizes_.c);
    cell.t = shape_.step(index);
    cell.count = shape_.batch * shape_.units;
    if (cell.h) {
      cell.recurrent = stateAt(scratch_, type_, projected_ * shape_.batch * width_, width_);
      all_.push_back(productOf(stateTensor(cell.h, type_, shape_.batch, shape_.units), launch_.r,
                               {}, stateTensor(cell.recurrent, type_, shape_.batch, width_), true,
                               gpu_, shape_.gates));
    }
    all_.push_back(elementwise(
        type_ == DType::F64 ? "lstmc_cell_forward_f64" : "lstmc_cell_forward_f32", cell));
  }

  gpu::Sequence state(int64_t number) const {
    return stateAt(scratch_, type_, number, shape_.units);
  }

  const RnnForwardLaunch &launch_;
  const gpu::RnnForwardArguments &layer_;
  const gpu::LayerShape &shape_;
  const RecurrenceWay &way_;
  const GpuShape &gpu_;
  DType type_;
  RnnForwardScratch<int64_t> sizes_;
  std::byte *scratch_;
  int64_t width_, projected_;
  std::vector<GpuLaunch> all_;
};

} // namespace

std::vector<GpuLaunch> forwardProjected(const RnnForwardLaunch &launch,
                                        const gpu::RnnForwardArguments &layer,
                                        const RecurrenceWay &way, const GpuShape &gpu) {
  return Projected(launch, layer, way, gpu).launches();
}

/// A cell and a product for each step.
std::vector<GpuLaunch> backwardStepByStep(const RnnBackwardLaunch &launch,
                                          const gpu::RnnBackwardArguments &layer,
                                          const GpuShape &gpu) {
  const gpu::LayerShape &shape = layer.shape;
  const DType type = launch.y.dtype;
  const auto kernel = type == DType::F64 ? "lstmc_cell_backward_f64" : "lstmc_cell_backward_f32";
  const auto sizes = scratchOf(
      RnnBackwardArguments{.mode = launch.mode, .reverse = launch.reverse, .chunk = launch.chunk},
      shape.batch, shape.units, int64_t(dtypeBytes(type)));
  std::byte *scratch = launch.scratch.as<std::byte>();
  auto state = [&](int64_t number) { return stateAt(scratch, type, number, shape.units); };
  gpu::CellBackwardArguments cell = {layer, state(0), state(sizes.dh),          state(sizes.dc),
                                     0,     -1,       shape.batch * shape.units};
  std::vector<GpuLaunch> launches;
  for (int64_t index = shape.steps - 1; index >= 0; --index) {
    cell.t = shape.step(index);
    launches.push_back(elementwise(kernel, cell));
    const Tensor &gradients = launch.dhidden ? launch.dhidden : launch.dgates;
    launches.push_back(productOf(slicedSteps(gradients, cell.t, 1), launch.rt, {},
                                 stateTensor(cell.sums, type, shape.batch, shape.units), true,
                                 gpu));
    cell.previous = cell.t;
  }
  cell.t = -1;
  launches.push_back(elementwise(kernel, cell));
  return launches;
}

GpuLaunch backwardOnChip(const gpu::RnnBackwardArguments &layer, const RecurrenceWay &way,
                         const GpuShape &gpu) {
  const gpu::RnnBackwardOnChipArguments arguments = {layer, way.chip};
  if (way.kind == RecurrenceWay::Kind::TensorCores)
    return inClusters(gpu.fast.roundedTo == RoundedTo::Bf16 ? "lstmc_rnn_backward_bf16"
                                                            : "lstmc_rnn_backward_fp16",
                      arguments, way, tensorThreads(way, gpu::kBackwardUnits));
  const gpu::ChipSums sums =
      gpu::backwardSums(layer.shape.units, layer.shape.gates, way.chip, way.threads);
  return inClusters(kernelOf(kBackwardOnChip, way), arguments, way,
                    gpu::onChipThreads(sums, way.rows, way.chip));
}

} // namespace lstmc::cuda
