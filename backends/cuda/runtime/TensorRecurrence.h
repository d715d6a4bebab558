// Launches of recurrent layers under a 16-bit rule of --fast, on the chip or step by step.
#pragma once

#include <vector>

#include "backends/cuda/kernels/Recurrence.h"
#include "backends/cuda/model/RecurrenceWay.h"
#include "backends/cuda/runtime/Groups.h"

namespace lstmc::cuda {

gpu::Sequence sequenceOf(const Tensor &tensor);

std::vector<GpuLaunch> forwardByTensorCores(const RnnForwardLaunch &launch,
                                            const gpu::RnnForwardArguments &layer,
                                            const RecurrenceWay &way, FastRule rule);
/// All but the product that makes dx.
std::vector<GpuLaunch> backwardByTensorCores(const RnnBackwardLaunch &launch,
                                             const gpu::RnnBackwardArguments &layer,
                                             const RecurrenceWay &way, FastRule rule);

} // namespace lstmc::cuda
