// Launches of recurrent layers for which a product of its own makes W x: on the chip, and step by
// step.
#pragma once

#include <vector>

#include "backends/cuda/kernels/Recurrence.h"
#include "backends/cuda/model/RecurrenceWay.h"
#include "backends/cuda/runtime/Groups.h"

namespace lstmc::cuda {

gpu::Sequence sequenceOf(const Tensor &tensor);

/// Of every way but that through the cache.
std::vector<GpuLaunch> forwardProjected(const RnnForwardLaunch &launch,
                                        const gpu::RnnForwardArguments &layer,
                                        const RecurrenceWay &way, const GpuShape &gpu);

/// Backward, all but the product that makes dx.
std::vector<GpuLaunch> backwardStepByStep(const RnnBackwardLaunch &launch,
                                          const gpu::RnnBackwardArguments &layer,
                                          const GpuShape &gpu);
GpuLaunch backwardOnChip(const gpu::RnnBackwardArguments &layer, const RecurrenceWay &way,
                         const GpuShape &gpu);

} // namespace lstmc::cuda
