// Recurrent layers by tensor cores, in 16 bits.
#pragma once

#include <optional>

#include "backends/cuda/model/RecurrenceWay.h"

namespace lstmc::cuda {

/// Nothing where the GPU's rule keeps f32. On the chip wherever the weights fit, and else step by
/// step, even if another way took less time: bits differ between these and the ways in f32, and
/// would depend on the batch.
std::optional<RecurrenceWay> tensorWay(const gpu::LayerShape &layer, Direction direction,
                                       const GpuShape &gpu);

} // namespace lstmc::cuda
