#include "backends/cuda/emulated/EmulatedKernels.h"

#include <algorithm>

#include "backends/cuda/kernels/Fused.h"
#include "backends/cuda/kernels/Gradients.h"
#include "backends/cuda/kernels/Initial.h"
#include "backends/cuda/kernels/Losses.h"
#include "backends/cuda/kernels/Movement.h"
#include "backends/cuda/kernels/Products.h"
#include "backends/cuda/kernels/Recurrence.h"
#include "backends/cuda/kernels/Reductions.h"

namespace lstmc::cuda {

namespace {

template <auto Kernel> struct BodyOf;
template <typename Arguments, void (*Kernel)(const Arguments &)> struct BodyOf<Kernel> {
  static void call(const void *arguments) { Kernel(*static_cast<const Arguments *>(arguments)); }
  static constexpr size_t kBytes = sizeof(Arguments);
};

constexpr EmulatedKernel kKernels[] = {
#define LSTMC_GPU_ENTRY(NAME) {#NAME, BodyOf<gpu::NAME>::call, BodyOf<gpu::NAME>::kBytes},
#include "backends/cuda/kernels/Entries.def"
};

} // namespace

const EmulatedKernel *findKernel(std::string_view name) {
  const EmulatedKernel *found = std::ranges::find(kKernels, name, &EmulatedKernel::name);
  return found == std::end(kKernels) ? nullptr : found;
}

} // namespace lstmc::cuda
