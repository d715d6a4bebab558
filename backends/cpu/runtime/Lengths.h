// Lengths and indices of any type. Compiled once, not per level.
#pragma once

#include "executor/base/Tensor.h"

namespace lstmc::cpu {

/// Element b of a vector [B] of integers or floats (truncated; NaN is 0), clipped to [0, steps].
int64_t lengthAt(const Tensor &lengths, int64_t b, int64_t steps);

/// The index at an offset in elements, clipped to [0, extent - 1].
int64_t indexAt(const Tensor &indices, int64_t offset, int64_t extent);

} // namespace lstmc::cpu
