// Recurrent layers whose weights stay on the chip as 16-bit fragments for tensor cores.
#pragma once

#include <optional>

#include "backends/cuda/model/RecurrenceWay.h"

namespace lstmc::cuda {

/// Nothing where the GPU's rule keeps f32, or the weights fit into no cluster. It is taken wherever
/// it fits, even if another way took less time: bits differ between the two, and would depend on
/// the batch.
std::optional<RecurrenceWay> tensorWay(const gpu::LayerShape &layer, Direction direction,
                                       const GpuShape &gpu);

} // namespace lstmc::cuda
