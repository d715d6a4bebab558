#include "backends/cuda/emulated/EmulatedCudnn.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <set>
#include <tuple>

#include "backends/cuda/emulated/EmulatedCards.h"
#include "executor/abi/Gate.h"
#include "executor/abi/Packing.h"
#include "executor/base/FloatMode.h"

namespace lstmc::cuda {

using namespace emulated;

namespace {

struct Handle {
  Stream *stream = nullptr;
};
struct State {
  std::array<int, 3> shape = {};
  bool dense = false;
};
struct Sequences {
  int64_t steps = 0, batch = 0, width = 0;

  uint64_t elements() const { return uint64_t(steps * batch * width); }
};
struct Layer {
  int algorithm = kCudnnStandard;
  RnnMode mode = RnnMode::Relu;
  int biases = kCudnnNoBias;
  int64_t inputs = 0, units = 0; ///< no units: not set

  int64_t gates() const { return gateCount(mode); }
  int64_t width() const { return gates() * units; }
  bool has(int bias) const { return biases == kCudnnBothBiases || biases == bias; }
  /// How many sums the terms of one go to.
  int sums() const {
    return algorithm == kCudnnPersistentSmallH ? 3 : algorithm == kCudnnPersistent ? 4 : 2;
  }
};

Handle &of(CudnnHandle handle) { return *reinterpret_cast<Handle *>(handle); }
State &of(CudnnTensor tensor) { return *reinterpret_cast<State *>(tensor); }
Sequences &of(CudnnSequences sequences) { return *reinterpret_cast<Sequences *>(sequences); }
Layer &of(CudnnLayer layer) { return *reinterpret_cast<Layer *>(layer); }

constexpr CudnnResult kInCapture = 5001;

// ---- weights: R, W (for small H W, R), bi, bh, each from a multiple of 64 elements on ----

struct Weights {
  int64_t r = 0, w = 0, bi = 0, bh = 0, elements = 0;

  explicit Weights(const Layer &l) {
    const auto next = [](int64_t begin, int64_t count) { return roundUp(begin + count, 64); };
    const int64_t ofR = l.width() * l.units, ofW = l.width() * l.inputs;
    const bool first = l.algorithm != kCudnnPersistentSmallH; // R
    (first ? w : r) = next(0, first ? ofR : ofW);
    bi = first ? next(w, ofW) : next(r, ofR);
    bh = next(bi, l.has(kCudnnInputBias) ? l.width() : 0);
    elements = next(bh, l.has(kCudnnRecurrentBias) ? l.width() : 0);
  }
};

CudnnResult findWeights(CudnnHandle, CudnnLayer layer, int32_t pseudoLayer, size_t bytes,
                        const void *weights, int32_t number, CudnnTensor, void **matrix,
                        CudnnTensor, void **bias) {
  const Layer &l = of(layer);
  const Weights at(l);
  if (pseudoLayer != 0 || number < 0 || number >= 2 * l.gates() ||
      bytes < size_t(at.elements) * sizeof(float))
    return kCudnnBadParameter;
  const bool recurrent = number >= l.gates();
  const int64_t gate = number % l.gates(), depth = recurrent ? l.units : l.inputs;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): as the library's interface has it
  auto *begin = const_cast<float *>(static_cast<const float *>(weights));
  *matrix = begin + (recurrent ? at.r : at.w) + gate * l.units * depth;
  *bias = l.has(recurrent ? kCudnnRecurrentBias : kCudnnInputBias)
              ? begin + (recurrent ? at.bh : at.bi) + gate * l.units
              : nullptr;
  return 0;
}

// ---- the layer ----

/// Null: absent.
struct Operands {
  const float *x, *h0, *c0, *weights;
  float *y, *hN, *cN, *workspace;
};

float dot(const float *a, const float *b, int64_t depth, int sums) {
  float whole = 0;
  for (int64_t first = 0; first < sums; ++first) {
    float sum = 0;
    for (int64_t k = first; k < depth; k += sums)
      sum = __builtin_fmaf(a[k], b[k], sum);
    whole = first == 0 ? sum : whole + sum;
  }
  return whole;
}

float sigmoid(float z) { return 1 / (1 + std::exp(-z)); }

/// A unit of a sequence at a step: `x` and `h` are what its gates get from W and from R.
float advanceUnit(RnnMode mode, const float *x, const float *h, float before, float &cell) {
  switch (mode) {
  case RnnMode::Relu:
    return std::max(x[0] + h[0], 0.0F);
  case RnnMode::Tanh:
    return std::tanh(x[0] + h[0]);
  case RnnMode::Lstm:
    cell = sigmoid(x[kGateF] + h[kGateF]) * cell +
           sigmoid(x[kGateI] + h[kGateI]) * std::tanh(x[kGateG] + h[kGateG]);
    return sigmoid(x[kGateO] + h[kGateO]) * std::tanh(cell);
  case RnnMode::Gru:
    break;
  }
  const float z = sigmoid(x[kGateZ] + h[kGateZ]);
  const float n = std::tanh(x[kGateN] + sigmoid(x[kGateR] + h[kGateR]) * h[kGateN]);
  return (1 - z) * n + z * before;
}

void projectInputs(const Operands &o, const Layer &l, int64_t rows) {
  const Weights at(l);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < l.width(); ++column) {
      const float sum =
          dot(o.weights + at.w + column * l.inputs, o.x + row * l.inputs, l.inputs, l.sums());
      o.workspace[row * l.width() + column] =
          l.has(kCudnnInputBias) ? sum + o.weights[at.bi + column] : sum;
    }
}

void advanceSequence(const Operands &o, const Layer &l, const Sequences &x, int64_t sequence) {
  const Weights at(l);
  const auto units = size_t(l.units);
  const auto stateOf = [&](const float *states) {
    std::vector<float> state(units);
    if (states)
      std::copy_n(states + sequence * l.units, units, state.begin());
    return state;
  };
  std::vector<float> h = stateOf(o.h0), c = stateOf(o.c0), next(units);
  for (int64_t t = 0; t < x.steps; ++t) {
    const int64_t row = t * x.batch + sequence;
    for (int64_t unit = 0; unit < l.units; ++unit) {
      float ofX[4] = {}, ofH[4] = {};
      for (int64_t gate = 0; gate < l.gates(); ++gate) {
        const int64_t column = gate * l.units + unit;
        ofX[gate] = o.workspace[row * l.width() + column];
        ofH[gate] = dot(o.weights + at.r + column * l.units, h.data(), l.units, l.sums());
        if (l.has(kCudnnRecurrentBias))
          ofH[gate] += o.weights[at.bh + column];
      }
      next[size_t(unit)] = advanceUnit(l.mode, ofX, ofH, h[size_t(unit)], c[size_t(unit)]);
    }
    h = next;
    std::ranges::copy(h, o.y + row * l.units);
  }
  if (o.hN)
    std::ranges::copy(h, o.hN + sequence * l.units);
  if (o.cN)
    std::ranges::copy(c, o.cN + sequence * l.units);
}

size_t workspaceFor(const Layer &l, const Sequences &x) {
  return size_t(x.steps * x.batch * l.width()) * sizeof(float);
}

bool fit(const Layer &l, const Sequences &x, const Sequences &y, const State &state) {
  return l.units > 0 && x.width == l.inputs && y.width == l.units && x.steps == y.steps &&
         x.batch == y.batch && state.dense && state.shape[0] == 1 && state.shape[1] == x.batch &&
         state.shape[2] == l.units;
}

/// The library's kernels are loaded when a layer of a mode runs for the first time by an algorithm,
/// and again for each card, which no captured stream allows.
bool loaded(const Layer &l, const Stream &stream) {
  static std::mutex mutex;
  static std::set<std::tuple<const Card *, RnnMode, int>> all;
  const std::lock_guard lock(mutex);
  if (stream.capture)
    return all.contains({current, l.mode, l.algorithm});
  all.insert({current, l.mode, l.algorithm});
  return true;
}

bool takes(const Layer &l, int64_t sequences) {
  if (l.algorithm == kCudnnPersistentSmallH)
    return l.units <= (l.gates() > 1 ? 192 : 384);
  if (l.algorithm == kCudnnPersistent)
    return l.units % 128 == 0 && l.units <= 1024 && l.inputs % 128 == 0 && sequences % 8 == 0 &&
           sequences <= 128;
  return true;
}
bool refusesToRun(const Layer &l) {
  const char *refused = std::getenv("LSTMC_EMU_CUDNN_REFUSES");
  return refused && std::atoi(refused) == l.algorithm;
}

CudnnResult advance(CudnnHandle handle, CudnnLayer layer, int forward, const int32_t *,
                    CudnnSequences xShape, const void *x, CudnnSequences yShape, void *y,
                    CudnnTensor hShape, const void *h0, void *hN, CudnnTensor cShape,
                    const void *c0, void *cN, size_t weightBytes, const void *weights,
                    size_t workspaceBytes, void *workspace, size_t, void *) {
  const Layer l = of(layer);
  const Sequences inputs = of(xShape), outputs = of(yShape);
  const bool lstm = l.mode == RnnMode::Lstm;
  if (forward != kCudnnInference || !fit(l, inputs, outputs, of(hShape)) ||
      (lstm && !fit(l, inputs, outputs, of(cShape))) || workspaceBytes < workspaceFor(l, inputs) ||
      weightBytes < size_t(Weights(l).elements) * sizeof(float) || !of(handle).stream)
    return kCudnnBadParameter;
  Stream &stream = *of(handle).stream;
  if (refusesToRun(l) || !takes(l, inputs.batch))
    return kCudnnNotSupported;
  if (!loaded(l, stream))
    return kInCapture;
  std::vector<MemoryUse> uses;
  bool here = true;
  /// Notes that the operation uses so many elements, if it is given any.
  const auto used = [&](const void *address, uint64_t elements, bool writes,
                        std::string_view name) -> float * {
    if (!address)
      return nullptr;
    const auto begin = DeviceAddress(reinterpret_cast<uintptr_t>(address));
    uses.push_back({begin, elements * sizeof(float), writes, name});
    auto *found = reinterpret_cast<float *>(world().memory.find(begin, elements * sizeof(float)));
    here = here && found;
    return found;
  };
  const auto states = uint64_t(inputs.batch * l.units);
  Operands operands = {};
  operands.x = used(x, inputs.elements(), false, "x");
  operands.h0 = used(h0, states, false, "h0");
  operands.c0 = lstm ? used(c0, states, false, "c0") : nullptr;
  operands.weights = used(weights, uint64_t(Weights(l).elements), false, "the weights");
  operands.y = used(y, outputs.elements(), true, "y");
  operands.hN = used(hN, states, true, "hN");
  operands.cN = lstm ? used(cN, states, true, "cN") : nullptr;
  operands.workspace =
      used(workspace, workspaceFor(l, inputs) / sizeof(float), true, "the workspace");
  if (!here || !operands.x || !operands.y || !operands.weights || !operands.workspace)
    return kCudnnBadParameter;
  const DriverResult refused = give(
      stream, {"cudnnRNNForward", std::move(uses), [=](uint64_t) -> std::optional<std::string> {
                 const FloatMode mode;
                 projectInputs(operands, l, inputs.steps * inputs.batch);
                 for (int64_t sequence = 0; sequence < inputs.batch; ++sequence)
                   advanceSequence(operands, l, inputs, sequence);
                 return std::nullopt;
               }});
  return refused ? kCudnnExecutionFailed : 0;
}

// ---- descriptions ----

CudnnResult setTensor(CudnnTensor tensor, int type, int rank, const int *shape,
                      const int *strides) {
  if (type != kCudnnFloat || rank != 3)
    return kCudnnNotSupported;
  std::copy_n(shape, 3, of(tensor).shape.begin());
  of(tensor).dense = strides[0] == shape[1] * shape[2] && strides[1] == shape[2] && strides[2] == 1;
  return 0;
}

CudnnResult setSequences(CudnnSequences sequences, int type, int layout, int steps, int batch,
                         int width, const int *lengths, void *) {
  if (type != kCudnnFloat || layout != kCudnnPacked)
    return kCudnnNotSupported;
  if (steps < 1 || batch < 1 || width < 1 || !lengths)
    return kCudnnBadParameter;
  if (std::any_of(lengths, lengths + batch, [&](int length) { return length != steps; }))
    return kCudnnNotSupported;
  of(sequences) = {steps, batch, width};
  return 0;
}

CudnnResult setLayer(CudnnLayer layer, int algorithm, int mode, int biases, int direction,
                     int input, int type, int arithmetic, int math, int32_t inputs, int32_t units,
                     int32_t projected, int32_t layers, void *dropout, uint32_t flags) {
  const bool known = algorithm == kCudnnStandard || algorithm == kCudnnPersistent ||
                     algorithm == kCudnnPersistentSmallH;
  if (!known || direction != kCudnnOneDirection || input != kCudnnMultipliesInputs ||
      type != kCudnnFloat || arithmetic != kCudnnFloat || math != kCudnnFma || projected != units ||
      layers != 1 || dropout || flags != 0)
    return kCudnnNotSupported;
  if (mode < 0 || mode > int(RnnMode::Gru) || biases < 0 || biases > kCudnnRecurrentBias ||
      inputs < 1 || units < 1)
    return kCudnnBadParameter;
  if (algorithm != kCudnnStandard && biases != kCudnnBothBiases)
    return kCudnnNotSupported;
  of(layer) = {algorithm, RnnMode(mode), biases, inputs, units};
  return 0;
}

template <typename T, typename Opaque> CudnnResult created(Opaque *handle) {
  *handle = handleOf<Opaque>(new T);
  return 0;
}
template <typename T, typename Opaque> CudnnResult destroyed(Opaque handle) {
  delete reinterpret_cast<T *>(handle);
  return 0;
}

const char *textOf(CudnnResult error) {
  return error == kCudnnBadParameter      ? "bad parameter"
         : error == kCudnnNotSupported    ? "not supported"
         : error == kCudnnExecutionFailed ? faultText.c_str()
         : error == kInCapture            ? "its kernels cannot be loaded in a capture"
                                          : "unknown result";
}

Cudnn makeTable() {
  Cudnn library;
  library.version = []() -> size_t { return 91900; };
  library.errorText = textOf;
  library.create = [](CudnnHandle *handle) {
    return current ? created<Handle, CudnnHandle>(handle) : kCudnnBadParameter;
  };
  library.destroy = destroyed<Handle, CudnnHandle>;
  library.setStream = [](CudnnHandle handle, DriverStream stream) {
    of(handle).stream = &streamOf(stream);
    return 0;
  };
  library.createTensor = created<State, CudnnTensor>;
  library.setTensor = setTensor;
  library.destroyTensor = destroyed<State, CudnnTensor>;
  library.createSequences = created<Sequences, CudnnSequences>;
  library.setSequences = setSequences;
  library.destroySequences = destroyed<Sequences, CudnnSequences>;
  library.createLayer = created<Layer, CudnnLayer>;
  library.setLayer = setLayer;
  library.destroyLayer = destroyed<Layer, CudnnLayer>;
  library.weightBytes = [](CudnnHandle, CudnnLayer layer, size_t *bytes) {
    *bytes = size_t(Weights(of(layer)).elements) * sizeof(float);
    return 0;
  };
  library.findWeights = findWeights;
  library.workspaceBytes = [](CudnnHandle, CudnnLayer layer, int forward, CudnnSequences x,
                              size_t *workspace, size_t *reserve) {
    *workspace = workspaceFor(of(layer), of(x));
    *reserve = 0;
    if (forward != kCudnnInference || of(x).width != of(layer).inputs)
      return kCudnnBadParameter;
    return takes(of(layer), of(x).batch) ? 0 : kCudnnNotSupported;
  };
  library.advance = advance;
  return library;
}

} // namespace

Result<const Cudnn *> emulatedCudnn() {
  static const Cudnn library = makeTable();
  if (isHidden("LSTMC_EMU_CUDNN"))
    return fail(ErrorCode::E0503, "cuDNN was not found; LSTMC_EMU_CUDNN=0 hides the emulated one");
  return &library;
}

} // namespace lstmc::cuda
