#include "backends/cuda/runtime/BoundLayer.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "backends/cuda/model/LibraryScratch.h"
#include "backends/cuda/runtime/Groups.h"
#include "backends/cuda/runtime/LayerAlgorithms.h"
#include "backends/cuda/text/KeptFiles.h"
#include "executor/base/Sha256.h"

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

int biasesOf(const RnnForwardLaunch &launch) {
  return launch.bi && launch.bh ? kCudnnBothBiases
         : launch.bi            ? kCudnnInputBias
         : launch.bh            ? kCudnnRecurrentBias
                                : kCudnnNoBias;
}

std::string shapeOf(const RnnForwardLaunch &launch) {
  const Tensor &x = launch.x, &y = launch.y;
  return fmt::format("{} of {} x {} x {}, {} units", kRnnModeNames[int(launch.mode)], x.shape[0],
                     x.shape[1], x.shape[2], y.shape[2]);
}

std::string fileOf(const std::string &key) { return sha256(asBytes(key)) + ".algorithm"; }

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
  CudnnResult error = library_.createLayer(&layer_);
  if (!error)
    error = library_.setLayer(layer_, algorithm_, int(launch.mode), biasesOf(launch),
                              kCudnnOneDirection, kCudnnMultipliesInputs, kCudnnFloat, kCudnnFloat,
                              kCudnnFma, inputs, units, units, 1, nullptr, 0);
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
  CudnnHandle handle = nullptr;
  CudnnResult error = layers_.handleOf(stream, handle);
  if (!error)
    error = library_.advance(handle, layer_, kCudnnInference, nullptr, xShape_, x_, yShape_, y_,
                             stateShape_, h0_, hN_, stateShape_, c0_, cN_, weightBytes_, weights_,
                             workspaceBytes_, workspace_, 0, nullptr);
  const auto words = [&] { return fmt::format("cudnnRNNForward: {}", library_.errorText(error)); };
  if (isUnsupported(error))
    throw LibraryRefusal(words());
  if (error)
    throw std::runtime_error(words());
}

void BoundLayer::takeOver(const std::string &why) { layers_.takeOver(*this, why); }

Result<std::unique_ptr<LibraryLayers>> LibraryLayers::create(const Cudnn &library, std::string card,
                                                             int multiprocessors) {
  CudnnHandle handle = nullptr;
  if (CudnnResult error = library.create(&handle))
    return fail(ErrorCode::E0503, "cuDNN {} refuses the GPU: {}", versionOf(library),
                library.errorText(error));
  return std::unique_ptr<LibraryLayers>(
      new LibraryLayers(library, handle, std::move(card), multiprocessors));
}

LibraryLayers::~LibraryLayers() {
  for (const auto &[stream, handle] : handles_)
    if (handle != handle_)
      library_.destroy(handle);
  library_.destroy(handle_);
}

/// Each stream has one, which never has another stream: what a library does when a handle changes
/// its stream may wait for both.
CudnnResult LibraryLayers::handleOf(DriverStream stream, CudnnHandle &handle) {
  if (auto found = handles_.find(stream); found != handles_.end())
    return handle = found->second, 0;
  handle = handle_;
  CudnnResult error = handles_.empty() ? 0 : library_.create(&handle);
  if (!error)
    error = library_.setStream(handle, stream);
  if (!error)
    handles_.emplace(stream, handle);
  else if (handle != handle_)
    library_.destroy(handle);
  return error;
}

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

/// All that the library sees of a launch.
std::string LibraryLayers::keyOf(const RnnForwardLaunch &launch) const {
  const LibraryLayer extents = extentsOf(launch);
  static constexpr uint32_t kRead = 16; // bytes that a thread may read at once
  const auto alignment = [](const Tensor &tensor, bool copied = false) {
    return copied ? kRead : std::min(kRead, alignmentOf(tensor.data));
  };
  return fmt::format(
      "cudnn {} {}: {}, biases {}, aligned {} {} {} {} {} {}, workspace {}", versionOf(library_),
      card_, shapeOf(launch), biasesOf(launch), alignment(launch.x, extents.copiesInputs),
      alignment(launch.y, extents.copiesOutputs), alignment(launch.h0), alignment(launch.c0),
      alignment(launch.hN), alignment(launch.cN), libraryScratchOf(extents).workspaceBytes);
}

/// An algorithm that the user's cache has. It may be any number.
std::optional<int> LibraryLayers::kept(const std::string &key) const {
  const Result<Bytes> file = keptFile(fileOf(key));
  int32_t algorithm = 0;
  if (!file.ok() || file->size() != sizeof(algorithm))
    return std::nullopt;
  std::memcpy(&algorithm, file->data(), sizeof(algorithm));
  return algorithm;
}

void LibraryLayers::choose(const std::string &key, int algorithm) {
  chosen_[key] = algorithm;
  const int32_t number = algorithm;
  keepFile(fileOf(key), {reinterpret_cast<const uint8_t *>(&number), sizeof(number)});
}

LibraryLayers::Answers LibraryLayers::ask(const RnnForwardLaunch &launch,
                                          std::span<const int> algorithms) {
  Answers answers;
  for (int algorithm : algorithms) {
    LayerSteps steps = {};
    steps.call.reset(new BoundLayer(*this, library_, handle_, algorithm));
    answers.last = bindSteps(launch, steps);
    if (answers.last.empty())
      answers.taken.push_back(std::move(steps));
    else if (answers.taken.empty())
      answers.refused += fmt::format("; not by {}: {}", nameOfAlgorithm(algorithm), answers.last);
  }
  return answers;
}

void LibraryLayers::tell(const std::string &shape, const std::string &by) {
  std::string told = fmt::format("cuDNN {}: {}, by {}", versionOf(library_), shape, by);
  if (std::ranges::find(told_, told) != told_.end())
    return;
  told_.push_back(told);
  choices_.push_back(std::move(told));
}

std::vector<LayerSteps> LibraryLayers::bind(const RnnForwardLaunch &launch) {
  const std::string shape = shapeOf(launch);
  if (const std::string obstacle = obstacleOf(launch); !obstacle.empty()) {
    tell(shape, "our own kernels: " + obstacle);
    return {};
  }
  const std::string key = keyOf(launch);
  const std::vector<int> asked = layerAlgorithms(launch.mode, extentsOf(launch), multiprocessors_);
  const auto found = chosen_.find(key);
  const bool known = found != chosen_.end();
  const std::optional<int> before = known ? found->second : kept(key);
  // The library refused those that are asked for before it.
  const auto first = before ? std::ranges::find(asked, *before) : asked.end();
  Answers answers = ask(launch, std::span(first, asked.end()));
  const bool same = !answers.taken.empty() && answers.taken.front().call->algorithm_ == *before;
  if (!same)
    answers = ask(launch, asked);
  if (answers.taken.empty()) {
    tell(shape, "our own kernels: " + answers.last);
    return {};
  }
  for (const LayerSteps &steps : answers.taken) {
    steps.call->key_ = key;
    steps.call->shape_ = shape;
  }
  const BoundLayer &call = *answers.taken.front().call;
  if (!same || !known)
    tell(shape, fmt::format("{}, {} bytes of workspace{}", nameOfAlgorithm(call.algorithm_),
                            call.workspaceBytes_, same ? ", as before" : answers.refused));
  if (same)
    chosen_[key] = call.algorithm_;
  else
    choose(key, call.algorithm_);
  return std::move(answers.taken);
}

void LibraryLayers::takeOver(const BoundLayer &call, const std::string &why) {
  choose(call.key_, call.algorithm_);
  tell(call.shape_, fmt::format("{}, {} bytes of workspace, after another was refused: {}",
                                nameOfAlgorithm(call.algorithm_), call.workspaceBytes_, why));
}

} // namespace lstmc::cuda
