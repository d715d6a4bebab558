#include "backends/cuda/kernels/Initial.h"
#include "backends/cuda/runtime/Groups.h"

namespace lstmc::cuda {

Launches launchesArange(const ArangeLaunch &launch, const GpuShape &) {
  return {{elementwise("lstmc_arange",
                       gpu::ArangeArguments{operandOf(launch.y), launch.y.elements(), launch.repeat,
                                            launch.start, launch.step})}};
}

Launches launchesInitialise(const InitialiseLaunch &launch, const GpuShape &) {
  if (launch.kind == InitKind::Orthogonal) // its vectors depend on one another
    return std::nullopt;
  return {{elementwise("lstmc_initialise",
                       gpu::InitialiseArguments{operandOf(launch.seed), operandOf(launch.w),
                                                launch.w.elements(), launch.kind,
                                                uint32_t(launch.ordinal), launch.a, launch.b})}};
}

} // namespace lstmc::cuda
