#include "backends/cuda/kernels/Movement.h"
#include "backends/cuda/runtime/Groups.h"

namespace lstmc::cuda {

Launches launchesFill(const FillLaunch &launch, const GpuShape &) {
  const Tensor &y = launch.y;
  return {
      {elementwise("lstmc_fill", gpu::FillArguments{operandOf(y), y.elements(), bytesOf(y.dtype),
                                                    storedBits(y.dtype, launch.value)})}};
}

Launches launchesCopy(const CopyLaunch &launch, const GpuShape &) {
  const Tensor &x = launch.x, &y = launch.y;
  return {{elementwise("lstmc_copy", gpu::CopyArguments{operandOf(x), operandOf(y), y.elements(),
                                                        bytesOf(y.dtype)})}};
}

Launches launchesOneHot(const OneHotLaunch &launch, const GpuShape &) {
  const Tensor &indices = launch.indices, &y = launch.y;
  return {{elementwise("lstmc_one_hot",
                       gpu::OneHotArguments{operandOf(indices), operandOf(y), y.elements(),
                                            bytesOf(y.dtype), storedBits(y.dtype, launch.on),
                                            storedBits(y.dtype, launch.off)})}};
}

/// For gather, pick and pick_gradient: moves elements of `from` at `indices` to `to`.
static Launches index(std::string_view kernel, const Tensor &from, const Tensor &indices,
                      const Tensor &to, bool wrap) {
  return {
      {elementwise(kernel, gpu::IndexArguments{operandOf(from), operandOf(indices), operandOf(to),
                                               to.elements(), bytesOf(to.dtype), wrap})}};
}
Launches launchesGather(const GatherLaunch &launch, const GpuShape &) {
  return index("lstmc_gather", launch.w, launch.indices, launch.y, launch.mode == IndexMode::Wrap);
}
Launches launchesPick(const PickLaunch &launch, const GpuShape &) {
  return index("lstmc_pick", launch.x, launch.indices, launch.y, launch.wrap);
}
Launches launchesPickGradient(const PickGradientLaunch &launch, const GpuShape &) {
  return index("lstmc_pick_gradient", launch.dy, launch.indices, launch.dx, launch.wrap);
}

static Launches sequence(std::string_view kernel, const Tensor &from, const Tensor &length,
                         const Tensor &to, uint64_t value = 0) {
  return {
      {elementwise(kernel, gpu::SequenceArguments{operandOf(from), operandOf(length), operandOf(to),
                                                  to.elements(), bytesOf(to.dtype), value})}};
}
Launches launchesSequenceMask(const SequenceMaskLaunch &launch, const GpuShape &) {
  return sequence("lstmc_sequence_mask", launch.x, launch.length, launch.y,
                  storedBits(launch.y.dtype, launch.value));
}
Launches launchesSequenceLast(const SequenceLastLaunch &launch, const GpuShape &) {
  return sequence("lstmc_sequence_last", launch.x, launch.length, launch.y);
}
Launches launchesSequenceLastGradient(const SequenceLastGradientLaunch &launch, const GpuShape &) {
  return sequence("lstmc_sequence_last_gradient", launch.dy, launch.length, launch.dx);
}
Launches launchesSequenceReverse(const SequenceReverseLaunch &launch, const GpuShape &) {
  return sequence("lstmc_sequence_reverse", launch.x, launch.length, launch.y);
}

} // namespace lstmc::cuda
