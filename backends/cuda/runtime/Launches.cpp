#include "backends/cuda/runtime/Launches.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "backends/cuda/kernels/Movement.h"
#include "backends/cuda/kernels/Products.h"
#include "backends/cuda/kernels/Recurrence.h"
#include "executor/abi/Packing.h"
#include "executor/base/Numeric.h"
#include "executor/device/KernelLaunch.h"

namespace lstmc::cuda {

namespace {

static_assert(gpu::kRank == kMaxRank);
static_assert(int(DType::F32) == 0 && int(DType::F64) == 1 && int(DType::F16) == 2 &&
              int(DType::BF16) == 3 && int(DType::I8) == 4 && int(DType::U8) == 5 &&
              int(DType::I32) == 6 && int(DType::I64) == 7 && int(DType::Bool) == 8);

/// Threads per block, and most blocks, of a launch with one thread per element. With more elements,
/// the kernel loops.
constexpr int kThreads = 256;
constexpr int64_t kMaxBlocks = 1024;
/// Shared memory per block, on every GPU from sm_90 on.
constexpr int64_t kMaxSharedBytes = 227 * 1024;

gpu::Operand operandOf(const Tensor &tensor) {
  gpu::Operand operand = {tensor.data, int32_t(tensor.dtype), tensor.rank, {}, {}};
  std::copy_n(tensor.shape.begin(), size_t(tensor.rank), operand.shape);
  std::copy_n(tensor.strides.begin(), size_t(tensor.rank), operand.strides);
  return operand;
}

int bytesOf(const Tensor &tensor) { return int(dtypeBytes(tensor.dtype)); }

/// The bits of `value` as stored in an element of this type.
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

/// A launch with one thread per element.
template <typename Arguments>
GpuLaunch elementwise(std::string_view kernel, const Arguments &arguments) {
  GpuLaunch launch = launchOf(kernel, arguments);
  launch.threads = kThreads;
  launch.blocks = std::clamp<int64_t>((arguments.count + kThreads - 1) / kThreads, 1, kMaxBlocks);
  return launch;
}

std::vector<GpuLaunch> fill(const FillLaunch &launch) {
  const Tensor &y = launch.y;
  return {elementwise("lstmc_fill", gpu::FillArguments{operandOf(y), y.elements(), bytesOf(y),
                                                       storedBits(y.dtype, launch.value)})};
}

std::vector<GpuLaunch> copy(const CopyLaunch &launch) {
  const Tensor &x = launch.x, &y = launch.y;
  return {elementwise("lstmc_copy",
                      gpu::CopyArguments{operandOf(x), operandOf(y), y.elements(), bytesOf(y)})};
}

std::vector<GpuLaunch> oneHot(const OneHotLaunch &launch) {
  const Tensor &indices = launch.indices, &y = launch.y;
  return {elementwise("lstmc_one_hot",
                      gpu::OneHotArguments{operandOf(indices), operandOf(y), y.elements(),
                                           bytesOf(y), storedBits(y.dtype, launch.on),
                                           storedBits(y.dtype, launch.off)})};
}

/// For gather, pick and pick_gradient: moves elements of `from` at `indices` to `to`.
std::vector<GpuLaunch> index(std::string_view kernel, const Tensor &from, const Tensor &indices,
                             const Tensor &to, bool wrap) {
  return {
      elementwise(kernel, gpu::IndexArguments{operandOf(from), operandOf(indices), operandOf(to),
                                              to.elements(), bytesOf(to), wrap})};
}
std::vector<GpuLaunch> gather(const GatherLaunch &launch) {
  return index("lstmc_gather", launch.w, launch.indices, launch.y, launch.wrap);
}
std::vector<GpuLaunch> pick(const PickLaunch &launch) {
  return index("lstmc_pick", launch.x, launch.indices, launch.y, launch.wrap);
}
std::vector<GpuLaunch> pickGradient(const PickGradientLaunch &launch) {
  return index("lstmc_pick_gradient", launch.dy, launch.indices, launch.dx, launch.wrap);
}

std::vector<GpuLaunch> sequence(std::string_view kernel, const Tensor &from, const Tensor &length,
                                const Tensor &to, uint64_t value = 0) {
  return {
      elementwise(kernel, gpu::SequenceArguments{operandOf(from), operandOf(length), operandOf(to),
                                                 to.elements(), bytesOf(to), value})};
}
std::vector<GpuLaunch> sequenceMask(const SequenceMaskLaunch &launch) {
  return sequence("lstmc_sequence_mask", launch.x, launch.length, launch.y,
                  storedBits(launch.y.dtype, launch.value));
}
std::vector<GpuLaunch> sequenceLast(const SequenceLastLaunch &launch) {
  return sequence("lstmc_sequence_last", launch.x, launch.length, launch.y);
}
std::vector<GpuLaunch> sequenceLastGradient(const SequenceLastGradientLaunch &launch) {
  return sequence("lstmc_sequence_last_gradient", launch.dy, launch.length, launch.dx);
}
std::vector<GpuLaunch> sequenceReverse(const SequenceReverseLaunch &launch) {
  return sequence("lstmc_sequence_reverse", launch.x, launch.length, launch.y);
}

std::vector<GpuLaunch> pack(const PackLaunch &launch) {
  const Tensor &w = launch.w, &p = launch.p;
  int gates = std::max(1, int(launch.gates));
  int64_t count = w.shape[0] * packedElements(w.shape[1], w.shape[2], gates);
  return {elementwise("lstmc_pack",
                      gpu::PackArguments{operandOf(w), operandOf(p), count, bytesOf(w), gates})};
}

/// y [A, M, N] = x p + bias; with `oneMatrix`, p has one matrix for all A.
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

std::vector<GpuLaunch> product(const ProductLaunch &launch) {
  return {productOf(launch.x, launch.p, launch.bias, launch.y, false)};
}

gpu::Sequence sequenceOf(const Tensor &tensor) {
  gpu::Sequence sequence = {tensor.as<float>(), {}};
  std::copy_n(tensor.strides.begin(), size_t(std::min(tensor.rank, 3)), sequence.strides);
  return sequence;
}

template <typename Launch> gpu::LayerShape layerOf(const Launch &launch, int64_t inputs) {
  const Tensor &y = launch.y;
  return {y.shape[0],    y.shape[1], inputs, y.shape[2], launch.mode, gateCount(launch.mode),
          launch.reverse};
}

/// `sharedBytes(rows)` is the shared memory of a block with so many sequences. Takes as many as
/// fit.
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

std::vector<GpuLaunch> rnnForward(const RnnForwardLaunch &launch) {
  gpu::RnnForwardArguments arguments = {layerOf(launch, launch.x.shape[2]),
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
  return {recurrence("lstmc_rnn_forward_1", "lstmc_rnn_forward_4", arguments, [&](int64_t rows) {
    return gpu::forwardSharedBytes(rows, arguments.shape.units);
  })};
}

std::vector<GpuLaunch> rnnBackward(const RnnBackwardLaunch &launch) {
  gpu::RnnBackwardArguments arguments = {
      layerOf(launch, 0),         sequenceOf(launch.gates), sequenceOf(launch.cells),
      sequenceOf(launch.y),       sequenceOf(launch.h0),    sequenceOf(launch.c0),
      sequenceOf(launch.before),  sequenceOf(launch.rt),    sequenceOf(launch.dy),
      sequenceOf(launch.dhN),     sequenceOf(launch.dcN),   sequenceOf(launch.dgates),
      sequenceOf(launch.dhidden), sequenceOf(launch.dh0),   sequenceOf(launch.dc0),
      operandOf(launch.length)};
  std::vector<GpuLaunch> launches = {
      recurrence("lstmc_rnn_backward_1", "lstmc_rnn_backward_4", arguments, [&](int64_t rows) {
        return gpu::backwardSharedBytes(rows, arguments.shape.units, arguments.shape.gates);
      })};
  if (launch.dx)
    launches.push_back(productOf(launch.dgates, launch.wt, {}, launch.dx, true));
  return launches;
}

/// Turns a function that takes its kernel's launch into one that takes LaunchArgs.
template <typename Launch>
std::type_identity<Launch> launchOfMaker(std::vector<GpuLaunch> (*)(const Launch &));
template <auto maker> std::vector<GpuLaunch> made(const LaunchArgs &args) {
  using Launch = typename decltype(launchOfMaker(maker))::type;
  return maker(Launch(args));
}

} // namespace

LaunchMaker launchMaker(KernelId id, std::span<const Tensor> operands) {
  bool f32 = true;
  for (const Tensor &operand : operands)
    f32 &= !operand || operand.dtype != DType::F64;
  switch (id) {
  case KernelId::Fill:
    return made<fill>;
  case KernelId::Copy:
    return made<copy>;
  case KernelId::Gather:
    return made<gather>;
  case KernelId::OneHot:
    return made<oneHot>;
  case KernelId::Pick:
    return made<pick>;
  case KernelId::PickGradient:
    return made<pickGradient>;
  case KernelId::SequenceMask:
    return made<sequenceMask>;
  case KernelId::SequenceLast:
    return made<sequenceLast>;
  case KernelId::SequenceLastGradient:
    return made<sequenceLastGradient>;
  case KernelId::SequenceReverse:
    return made<sequenceReverse>;
  case KernelId::Pack:
    return made<pack>;
  case KernelId::Product:
    return made<product>;
  // Elementary functions exist for f32 only.
  case KernelId::RnnForward:
    return f32 ? made<rnnForward> : nullptr;
  case KernelId::RnnBackward:
    return f32 ? made<rnnBackward> : nullptr;
  default:
    return nullptr;
  }
}

} // namespace lstmc::cuda
