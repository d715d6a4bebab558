// Launches of recurrent layers that have a product of its own for W x: step by step, and under a
// 16-bit rule of --fast on the chip.
#pragma once

#include <vector>

#include "backends/cuda/kernels/Recurrence.h"
#include "backends/cuda/model/RecurrenceWay.h"
#include "backends/cuda/runtime/Groups.h"

namespace lstmc::cuda {

gpu::Sequence sequenceOf(const Tensor &tensor);

/// With a rule by tensor cores, without to the bits of every other way.
std::vector<GpuLaunch> forwardStepByStep(const RnnForwardLaunch &launch,
                                         const gpu::RnnForwardArguments &layer,
                                         const RecurrenceWay &way, const GpuShape &gpu);
/// All but the product that makes dx.
std::vector<GpuLaunch> backwardStepByStep(const RnnBackwardLaunch &launch,
                                          const gpu::RnnBackwardArguments &layer,
                                          const GpuShape &gpu);

/// On the chip.
std::vector<GpuLaunch> forwardByTensorCores(const RnnForwardLaunch &launch,
                                            const gpu::RnnForwardArguments &layer,
                                            const RecurrenceWay &way, const GpuShape &gpu);
std::vector<GpuLaunch> backwardByTensorCores(const RnnBackwardLaunch &launch,
                                             const gpu::RnnBackwardArguments &layer,
                                             const RecurrenceWay &way, const GpuShape &gpu);

} // namespace lstmc::cuda
