#include "backends/cuda/runtime/Launches.h"

#include <algorithm>
#include <cstring>

#include "backends/cuda/kernels/Movement.h"
#include "backends/cuda/kernels/Products.h"
#include "backends/cuda/kernels/Recurrence.h"
#include "executor/abi/Packing.h"
#include "executor/base/Numeric.h"

namespace lstmc::cuda {

namespace {

static_assert(gpu::kRank == kMaxRank);
static_assert(int(DType::F32) == 0 && int(DType::F64) == 1 && int(DType::F16) == 2 &&
              int(DType::BF16) == 3 && int(DType::I8) == 4 && int(DType::U8) == 5 &&
              int(DType::I32) == 6 && int(DType::I64) == 7 && int(DType::Bool) == 8);

/// Threads of a launch that has one for each element, and the most blocks it takes: what is beyond
/// is a loop in the kernel.
constexpr int kThreads = 256;
constexpr int64_t kMaxBlocks = 1024;
/// Of a block, on every card from sm_90 on.
constexpr int64_t kMaxSharedBytes = 227 * 1024;

gpu::Operand operandOf(const Tensor &tensor) {
  gpu::Operand operand = {tensor.data, int32_t(tensor.dtype), tensor.rank, {}, {}};
  std::copy_n(tensor.shape.begin(), size_t(tensor.rank), operand.shape);
  std::copy_n(tensor.strides.begin(), size_t(tensor.rank), operand.strides);
  return operand;
}

int bytesOf(const Tensor &tensor) { return int(dtypeBytes(tensor.dtype)); }

/// `value` as an element of that type is stored.
uint64_t storedBits(DType type, double value) {
  uint64_t bits = 0;
  writeElement(&bits, type, 0, value);
  return bits;
}

template <typename Arguments>
GpuLaunch launchOf(std::string_view kernel, const Arguments &arguments) {
  GpuLaunch launch;
  launch.kernel = kernel;
  launch.arguments.resize(sizeof(arguments));
  std::memcpy(launch.arguments.data(), &arguments, sizeof(arguments));
  return launch;
}

/// One with a thread for each element.
template <typename Arguments>
GpuLaunch elementwise(std::string_view kernel, const Arguments &arguments) {
  GpuLaunch launch = launchOf(kernel, arguments);
  launch.threads = kThreads;
  launch.blocks = std::clamp<int64_t>((arguments.count + kThreads - 1) / kThreads, 1, kMaxBlocks);
  return launch;
}

std::vector<GpuLaunch> fill(const LaunchArgs &args) {
  const Tensor &y = args.operands[0];
  return {elementwise("lstmc_fill", gpu::FillArguments{operandOf(y), y.elements(), bytesOf(y),
                                                       storedBits(y.dtype, args.floats[0])})};
}

std::vector<GpuLaunch> copy(const LaunchArgs &args) {
  const Tensor &x = args.operands[0], &y = args.operands[1];
  return {elementwise("lstmc_copy",
                      gpu::CopyArguments{operandOf(x), operandOf(y), y.elements(), bytesOf(y)})};
}

std::vector<GpuLaunch> oneHot(const LaunchArgs &args) {
  const Tensor &indices = args.operands[0], &y = args.operands[1];
  return {elementwise("lstmc_one_hot",
                      gpu::OneHotArguments{operandOf(indices), operandOf(y), y.elements(),
                                           bytesOf(y), storedBits(y.dtype, args.floats[0]),
                                           storedBits(y.dtype, args.floats[1])})};
}

std::vector<GpuLaunch> index(std::string_view kernel, const LaunchArgs &args) {
  const Tensor &x = args.operands[0], &indices = args.operands[1], &y = args.operands[2];
  return {elementwise(kernel, gpu::IndexArguments{operandOf(x), operandOf(indices), operandOf(y),
                                                  y.elements(), bytesOf(y), args.ints[0] != 0})};
}
std::vector<GpuLaunch> gather(const LaunchArgs &args) { return index("lstmc_gather", args); }
std::vector<GpuLaunch> pick(const LaunchArgs &args) { return index("lstmc_pick", args); }
std::vector<GpuLaunch> pickGradient(const LaunchArgs &args) {
  return index("lstmc_pick_gradient", args);
}

std::vector<GpuLaunch> sequence(std::string_view kernel, const LaunchArgs &args) {
  const Tensor &x = args.operands[0], &length = args.operands[1], &y = args.operands[2];
  uint64_t value = args.floats.empty() ? 0 : storedBits(y.dtype, args.floats[0]);
  return {elementwise(kernel, gpu::SequenceArguments{operandOf(x), operandOf(length), operandOf(y),
                                                     y.elements(), bytesOf(y), value})};
}
std::vector<GpuLaunch> sequenceMask(const LaunchArgs &args) {
  return sequence("lstmc_sequence_mask", args);
}
std::vector<GpuLaunch> sequenceLast(const LaunchArgs &args) {
  return sequence("lstmc_sequence_last", args);
}
std::vector<GpuLaunch> sequenceLastGradient(const LaunchArgs &args) {
  return sequence("lstmc_sequence_last_gradient", args);
}
std::vector<GpuLaunch> sequenceReverse(const LaunchArgs &args) {
  return sequence("lstmc_sequence_reverse", args);
}

std::vector<GpuLaunch> pack(const LaunchArgs &args) {
  const Tensor &w = args.operands[0], &p = args.operands[1];
  int gates = std::max(1, int(args.ints[0]));
  int64_t count = w.shape[0] * packedElements(w.shape[1], w.shape[2], gates);
  return {elementwise("lstmc_pack",
                      gpu::PackArguments{operandOf(w), operandOf(p), count, bytesOf(w), gates})};
}

/// y [A, M, N] = x p + bias; one matrix for all A where `oneMatrix`.
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

std::vector<GpuLaunch> product(const LaunchArgs &args) {
  enum { X, P, Bias, Y };
  std::span<const Tensor> o = args.operands;
  return {productOf(o[X], o[P], o[Bias], o[Y], false)};
}

gpu::Sequence sequenceOf(const Tensor &tensor) {
  gpu::Sequence sequence = {tensor.as<float>(), {}};
  std::copy_n(tensor.strides.begin(), size_t(std::min(tensor.rank, 3)), sequence.strides);
  return sequence;
}

gpu::LayerShape layerOf(const LaunchArgs &args, const Tensor &y, int64_t inputs) {
  auto mode = RnnMode(args.ints[0]);
  return {y.shape[0], y.shape[1], inputs, y.shape[2], mode, gateCount(mode), args.ints[1] != 0};
}

/// `sharedBytes(rows)`: what a block of so many sequences needs. As many as fit.
template <typename Arguments, typename Bytes>
GpuLaunch recurrence(const char *one, const char *several, const Arguments &arguments,
                     Bytes sharedBytes) {
  bool fits = sharedBytes(gpu::kRows) <= kMaxSharedBytes && arguments.shape.batch > 1;
  int64_t rows = fits ? gpu::kRows : 1;
  GpuLaunch launch = launchOf(fits ? several : one, arguments);
  launch.blocks = (arguments.shape.batch + rows - 1) / rows;
  launch.threads = gpu::kRecurrentThreads;
  launch.sharedBytes = int(sharedBytes(rows));
  return launch;
}

std::vector<GpuLaunch> rnnForward(const LaunchArgs &args) {
  enum { X, W, R, Bi, Bh, H0, C0, Length, Y, HN, CN, Gates, Cells, Before };
  std::span<const Tensor> o = args.operands;
  auto s = [&](int operand) { return sequenceOf(o[size_t(operand)]); };
  gpu::RnnForwardArguments arguments = {layerOf(args, o[Y], o[X].shape[2]),
                                        s(X),
                                        s(W),
                                        s(R),
                                        s(Bi),
                                        s(Bh),
                                        s(H0),
                                        s(C0),
                                        s(Y),
                                        s(HN),
                                        s(CN),
                                        s(Gates),
                                        s(Cells),
                                        s(Before),
                                        operandOf(o[Length])};
  return {recurrence("lstmc_rnn_forward_1", "lstmc_rnn_forward_4", arguments, [&](int64_t rows) {
    return gpu::forwardSharedBytes(rows, arguments.shape.units);
  })};
}

std::vector<GpuLaunch> rnnBackward(const LaunchArgs &args) {
  enum {
    Gates,
    Cells,
    Y,
    H0,
    C0,
    Length,
    Before,
    Wt,
    Rt,
    Dy,
    DhN,
    DcN,
    Dgates,
    Dhidden,
    Dx,
    Dh0,
    Dc0
  };
  std::span<const Tensor> o = args.operands;
  auto s = [&](int operand) { return sequenceOf(o[size_t(operand)]); };
  gpu::RnnBackwardArguments arguments = {layerOf(args, o[Y], 0),
                                         s(Gates),
                                         s(Cells),
                                         s(Y),
                                         s(H0),
                                         s(C0),
                                         s(Before),
                                         s(Rt),
                                         s(Dy),
                                         s(DhN),
                                         s(DcN),
                                         s(Dgates),
                                         s(Dhidden),
                                         s(Dh0),
                                         s(Dc0),
                                         operandOf(o[Length])};
  std::vector<GpuLaunch> launches = {
      recurrence("lstmc_rnn_backward_1", "lstmc_rnn_backward_4", arguments, [&](int64_t rows) {
        return gpu::backwardSharedBytes(rows, arguments.shape.units, arguments.shape.gates);
      })};
  if (o[Dx])
    launches.push_back(productOf(o[Dgates], o[Wt], {}, o[Dx], true));
  return launches;
}

} // namespace

LaunchMaker launchMaker(KernelId id, std::span<const Tensor> operands) {
  bool f32 = true;
  for (const Tensor &operand : operands)
    f32 &= !operand || operand.dtype != DType::F64;
  switch (id) {
  case KernelId::Fill:
    return fill;
  case KernelId::Copy:
    return copy;
  case KernelId::Gather:
    return gather;
  case KernelId::OneHot:
    return oneHot;
  case KernelId::Pick:
    return pick;
  case KernelId::PickGradient:
    return pickGradient;
  case KernelId::SequenceMask:
    return sequenceMask;
  case KernelId::SequenceLast:
    return sequenceLast;
  case KernelId::SequenceLastGradient:
    return sequenceLastGradient;
  case KernelId::SequenceReverse:
    return sequenceReverse;
  case KernelId::Pack:
    return pack;
  case KernelId::Product:
    return product;
  // Elementary functions are there for f32 alone.
  case KernelId::RnnForward:
    return f32 ? rnnForward : nullptr;
  case KernelId::RnnBackward:
    return f32 ? rnnBackward : nullptr;
  default:
    return nullptr;
  }
}

} // namespace lstmc::cuda
