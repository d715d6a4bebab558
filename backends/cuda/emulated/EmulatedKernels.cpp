#include "backends/cuda/emulated/EmulatedKernels.h"

#include <array>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "backends/cuda/emulated/Machine.h"
#include "backends/cuda/kernels/Movement.h"
#include "backends/cuda/kernels/Products.h"
#include "backends/cuda/kernels/Recurrence.h"
#include "backends/cuda/runtime/Launches.h"

namespace lstmc::cuda {

namespace {

using Body = void (*)(const void *);

struct EmulatedKernel {
  std::string_view name;
  Body body;
};

template <auto Kernel> struct BodyOf;
template <typename Arguments, void (*Kernel)(const Arguments &)> struct BodyOf<Kernel> {
  static void call(const void *arguments) { Kernel(*static_cast<const Arguments *>(arguments)); }
};

#define LSTMC_KERNEL_NAMED(NAME)                                                                   \
  EmulatedKernel { #NAME, BodyOf<gpu::NAME>::call }
constexpr EmulatedKernel kKernels[] = {
    LSTMC_KERNEL_NAMED(lstmc_fill),
    LSTMC_KERNEL_NAMED(lstmc_copy),
    LSTMC_KERNEL_NAMED(lstmc_gather),
    LSTMC_KERNEL_NAMED(lstmc_one_hot),
    LSTMC_KERNEL_NAMED(lstmc_pick),
    LSTMC_KERNEL_NAMED(lstmc_pick_gradient),
    LSTMC_KERNEL_NAMED(lstmc_sequence_mask),
    LSTMC_KERNEL_NAMED(lstmc_sequence_last),
    LSTMC_KERNEL_NAMED(lstmc_sequence_last_gradient),
    LSTMC_KERNEL_NAMED(lstmc_sequence_reverse),
    LSTMC_KERNEL_NAMED(lstmc_pack),
    LSTMC_KERNEL_NAMED(lstmc_product_f32),
    LSTMC_KERNEL_NAMED(lstmc_product_f64),
    LSTMC_KERNEL_NAMED(lstmc_rnn_forward_1),
    LSTMC_KERNEL_NAMED(lstmc_rnn_forward_4),
    LSTMC_KERNEL_NAMED(lstmc_rnn_backward_1),
    LSTMC_KERNEL_NAMED(lstmc_rnn_backward_4),
};
#undef LSTMC_KERNEL_NAMED

Body findBody(std::string_view name) {
  for (const EmulatedKernel &kernel : kKernels)
    if (kernel.name == name)
      return kernel.body;
  throw std::runtime_error("there is no kernel " + std::string(name));
}

/// The range of bytes from an operand's first to its last element.
gpu::Region regionOf(const Tensor &tensor, const OperandRecord &record) {
  int64_t low = 0, high = 0;
  for (int axis = 0; axis < tensor.rank; ++axis) {
    int64_t span = (tensor.shape[size_t(axis)] - 1) * tensor.strides[size_t(axis)];
    (span < 0 ? low : high) += span;
  }
  auto bytes = int64_t(dtypeBytes(tensor.dtype));
  return {static_cast<std::byte *>(tensor.data) + low * bytes, uint64_t((high - low + 1) * bytes),
          record.mode != OperandMode::In, std::string(record.name)};
}

void carryOut(KernelId id, const LaunchArgs &args) {
  const KernelRecord &record = kernelRecord(id);
  std::vector<gpu::Region> regions;
  for (size_t i = 0; i < args.operands.size(); ++i)
    if (args.operands[i])
      regions.push_back(
          regionOf(args.operands[i],
                   i < record.operands.size()
                       ? record.operands[i]
                       : record.repeated[(i - record.operands.size()) % record.repeated.size()]));
  for (const GpuLaunch &launch : launchMaker(id, args.operands)(args)) {
    gpu::LaunchShape shape{launch.blocks, launch.threads, launch.sharedBytes, launch.cooperative};
    if (launch.blocks == 0)
      continue;
    if (auto fault = gpu::launch(launch.kernel, findBody(launch.kernel), launch.arguments.data(),
                                 shape, regions))
      throw std::runtime_error(fault->text());
  }
}

template <KernelId id> void function(const LaunchArgs &args, Worker &worker) {
  if (worker.index == 0)
    carryOut(id, args);
}

template <size_t... ids> constexpr auto functionsOf(std::index_sequence<ids...>) {
  return std::array<KernelFunction, sizeof...(ids)>{function<KernelId(ids)>...};
}

} // namespace

KernelFunction emulatedKernel(KernelId id, std::span<const Tensor> operands) {
  static constexpr auto kFunctions =
      functionsOf(std::make_index_sequence<size_t(KernelId::Send)>());
  return launchMaker(id, operands) ? kFunctions[size_t(id)] : nullptr;
}

} // namespace lstmc::cuda
