#include "backends/cuda/runtime/BoundLayer.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "backends/cuda/model/LibraryScratch.h"
#include "backends/cuda/runtime/Groups.h"

namespace lstmc::cuda {

namespace {

static_assert(int(RnnMode::Relu) == 0 && int(RnnMode::Tanh) == 1 && int(RnnMode::Lstm) == 2 &&
              int(RnnMode::Gru) == 3); // as cudnnRNNMode_t

/// Dense, at an address of the device.
Tensor denseAt(void *data, std::initializer_list<int64_t> shape) {
  Tensor tensor;
  tensor.data = data;
  for (int64_t extent : shape)
    tensor.shape[size_t(tensor.rank++)] = extent;
  int64_t stride = 1;
  for (int axis = tensor.rank; axis-- > 0;) {
    tensor.strides[size_t(axis)] = stride;
    stride *= tensor.shape[size_t(axis)];
  }
  return tensor;
}

/// From the last step to the first.
Tensor backwards(Tensor sequence) {
  sequence.data = sequence.as<float>() + (sequence.shape[0] - 1) * sequence.strides[0];
  sequence.strides[0] = -sequence.strides[0];
  return sequence;
}

LibraryLayer extentsOf(const RnnForwardLaunch &launch) {
  return {.gates = gateCount(launch.mode),
          .steps = launch.y.shape[0],
          .batch = launch.y.shape[1],
          .inputs = launch.x.shape[2],
          .units = launch.y.shape[2],
          .copiesInputs = launch.reverse || !launch.x.dense(),
          .copiesOutputs = launch.reverse || !launch.y.dense()};
}

/// Why the library is not asked; "" if it is.
std::string obstacleOf(const RnnForwardLaunch &launch) {
  constexpr auto kMost = int64_t(std::numeric_limits<int32_t>::max());
  const LibraryLayer extents = extentsOf(launch);
  if (launch.gates)
    return "its gates are kept for backward";
  if (launch.length)
    return "its sequences have lengths";
  for (const Tensor *state : {&launch.h0, &launch.c0, &launch.hN, &launch.cN})
    if (*state && !state->dense())
      return "a state has gaps";
  const int64_t rows = extents.steps * extents.batch;
  if (rows * extents.units == 0 || extents.inputs == 0)
    return "it is empty";
  if (std::max({rows * extents.inputs, rows * extents.units * extents.gates,
                extents.gates * extents.units * (extents.inputs + extents.units)}) > kMost)
    return "it is too large";
  return "";
}

/// Where the library wants the matrices or the biases of all gates: one after the other, so many
/// elements apart.
struct Places {
  float *first = nullptr;
  int64_t apart = 0;

  /// Whether those of a gate lie where this says.
  bool add(int64_t gate, void *place, int64_t elements) {
    auto *here = static_cast<float *>(place);
    if (gate == 0)
      first = here;
    if (gate == 1)
      apart = here - first;
    return here && here == first + gate * apart && (gate == 0 || apart >= elements);
  }
};

} // namespace

BoundLayer::~BoundLayer() {
  if (layer_)
    library_.destroyLayer(layer_);
  for (CudnnSequences shape : {xShape_, yShape_})
    if (shape)
      library_.destroySequences(shape);
  for (CudnnTensor shape : {stateShape_, matrixShape_, biasShape_})
    if (shape)
      library_.destroyTensor(shape);
}

CudnnResult BoundLayer::describe(const RnnForwardLaunch &launch) {
  const LibraryLayer extents = extentsOf(launch);
  const auto steps = int(extents.steps), batch = int(extents.batch), units = int(extents.units),
             inputs = int(extents.inputs);
  const int biases = launch.bi && launch.bh ? kCudnnBothBiases
                     : launch.bi            ? kCudnnInputBias
                     : launch.bh            ? kCudnnRecurrentBias
                                            : kCudnnNoBias;
  CudnnResult error = library_.createLayer(&layer_);
  if (!error)
    error = library_.setLayer(layer_, kCudnnStandard, int(launch.mode), biases, kCudnnOneDirection,
                              kCudnnMultipliesInputs, kCudnnFloat, kCudnnFloat, kCudnnFma, inputs,
                              units, units, 1, nullptr, 0);
  const std::vector<int> lengths(size_t(batch), steps);
  for (auto [shape, width] : {std::pair(&xShape_, inputs), {&yShape_, units}}) {
    if (!error)
      error = library_.createSequences(shape);
    if (!error)
      error = library_.setSequences(*shape, kCudnnFloat, kCudnnPacked, steps, batch, width,
                                    lengths.data(), nullptr);
  }
  for (CudnnTensor *made : {&stateShape_, &matrixShape_, &biasShape_})
    if (!error)
      error = library_.createTensor(made);
  const int shape[] = {1, batch, units}, strides[] = {batch * units, units, 1};
  if (!error)
    error = library_.setTensor(stateShape_, kCudnnFloat, 3, shape, strides);
  if (!error)
    error = library_.weightBytes(handle_, layer_, &weightBytes_);
  size_t reserve = 0;
  if (!error)
    error = library_.workspaceBytes(handle_, layer_, kCudnnInference, xShape_, &workspaceBytes_,
                                    &reserve);
  h0_ = launch.h0.data;
  c0_ = launch.c0.data;
  hN_ = launch.hN.data;
  cN_ = launch.cN.data;
  return error;
}

void BoundLayer::giveTo(DriverStream stream) const {
  CudnnResult error = library_.setStream(handle_, stream);
  if (!error)
    error = library_.advance(handle_, layer_, kCudnnInference, nullptr, xShape_, x_, yShape_, y_,
                             stateShape_, h0_, hN_, stateShape_, c0_, cN_, weightBytes_, weights_,
                             workspaceBytes_, workspace_, 0, nullptr);
  if (error)
    throw std::runtime_error(fmt::format("cudnnRNNForward: {}", library_.errorText(error)));
}

Result<std::unique_ptr<LibraryLayers>> LibraryLayers::create(const Cudnn &library) {
  CudnnHandle handle = nullptr;
  if (CudnnResult error = library.create(&handle))
    return fail(ErrorCode::E0503, "cuDNN {} refuses the GPU: {}", versionOf(library),
                library.errorText(error));
  return std::unique_ptr<LibraryLayers>(new LibraryLayers(library, handle));
}

LibraryLayers::~LibraryLayers() { library_.destroy(handle_); }

/// Into the places that the library has for them. "" or why not.
std::string LibraryLayers::copyWeights(const RnnForwardLaunch &launch, LayerSteps &steps) const {
  const BoundLayer &call = *steps.call;
  const LibraryLayer extents = extentsOf(launch);
  const int64_t units = extents.units;
  CudnnResult error = 0;
  bool inOrder = true;
  int64_t number = 0;
  for (auto [packed, bias, depth] :
       {std::tuple(&launch.w, &launch.bi, extents.inputs), {&launch.r, &launch.bh, units}}) {
    Places matrices, biases;
    for (int64_t gate = 0; gate < extents.gates && !error; ++gate, ++number) {
      void *matrix = nullptr, *vector = nullptr;
      error = library_.findWeights(call.handle_, call.layer_, 0, call.weightBytes_, call.weights_,
                                   int32_t(number), call.matrixShape_, &matrix, call.biasShape_,
                                   &vector);
      inOrder = inOrder && matrices.add(gate, matrix, units * depth) &&
                (!*bias || biases.add(gate, vector, units));
    }
    if (error)
      return library_.errorText(error);
    if (!inOrder)
      return "the library has another order of weights";
    std::ranges::move(
        unpackedRows(*packed, matrices.first, extents.gates, units, depth, matrices.apart),
        std::back_inserter(steps.before));
    if (!*bias)
      continue;
    Tensor from = denseAt(bias->data, {extents.gates, units}),
           to = denseAt(biases.first, {extents.gates, units});
    from.strides[0] = units * bias->strides[0];
    from.strides[1] = bias->strides[0];
    to.strides[0] = biases.apart;
    steps.before.push_back(copyOf(from, to));
  }
  return "";
}

/// "" or why not.
std::string LibraryLayers::bindSteps(const RnnForwardLaunch &launch, LayerSteps &steps) const {
  if (std::string obstacle = obstacleOf(launch); !obstacle.empty())
    return obstacle;
  steps.call.reset(new BoundLayer(library_, handle_));
  BoundLayer &call = *steps.call;
  if (CudnnResult error = call.describe(launch))
    return library_.errorText(error);

  const LibraryLayer extents = extentsOf(launch);
  const LibraryLayerScratch scratch = libraryScratchOf(extents);
  const int64_t found = launch.scratch.shape[0];
  if (found < scratch.bytes)
    return fmt::format("the plan has {} bytes of scratch, and it takes {}", found, scratch.bytes);
  if (int64_t(call.weightBytes_) > scratch.inputs)
    return fmt::format("the plan has {} bytes for its weights, and the library wants {}",
                       scratch.inputs, call.weightBytes_);
  if (int64_t(call.workspaceBytes_) > scratch.workspaceBytes)
    return fmt::format("the plan has {} bytes of workspace, and the library wants {}",
                       scratch.workspaceBytes, call.workspaceBytes_);
  std::byte *begin = alignedForLibrary(launch.scratch.as<std::byte>());
  call.weights_ = begin;
  call.workspace_ = begin + scratch.workspace;
  steps.workspace = call.workspace_;
  if (std::string why = copyWeights(launch, steps); !why.empty())
    return why;

  const auto inOrder = [&](const Tensor &sequence) {
    return launch.reverse ? backwards(sequence) : sequence;
  };
  Tensor x = launch.x, y = launch.y;
  if (extents.copiesInputs) {
    x = denseAt(begin + scratch.inputs, {extents.steps, extents.batch, extents.inputs});
    steps.before.push_back(copyOf(inOrder(launch.x), x));
  }
  if (extents.copiesOutputs) {
    y = denseAt(begin + scratch.outputs, {extents.steps, extents.batch, extents.units});
    steps.after.push_back(copyOf(y, inOrder(launch.y)));
  }
  call.x_ = x.data;
  call.y_ = y.data;
  return "";
}

std::optional<LayerSteps> LibraryLayers::bind(const RnnForwardLaunch &launch) {
  LayerSteps steps = {};
  const std::string why = bindSteps(launch, steps);
  const Tensor &x = launch.x, &y = launch.y;
  std::string told =
      fmt::format("cuDNN {}: {} of {} x {} x {}, {} units, by {}", versionOf(library_),
                  kRnnModeNames[int(launch.mode)], x.shape[0], x.shape[1], x.shape[2], y.shape[2],
                  why.empty() ? fmt::format("the standard algorithm, {} bytes of workspace",
                                            steps.call->workspaceBytes_)
                              : "our own kernels: " + why);
  if (std::ranges::find(told_, told) == told_.end()) {
    told_.push_back(told);
    choices_.push_back(std::move(told));
  }
  if (!why.empty())
    return std::nullopt;
  return steps;
}

} // namespace lstmc::cuda
