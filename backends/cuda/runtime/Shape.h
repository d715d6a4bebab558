// What a driver says of a GPU, as the choice of kernels needs it.
#pragma once

#include "backends/cuda/model/GpuShape.h"
#include "backends/cuda/runtime/Driver.h"

namespace lstmc::cuda {

/// Fills `shape`; what the driver does not know keeps its value where a plan can do without.
DriverResult findShape(const Driver &driver, CardNumber card, GpuShape &shape);

} // namespace lstmc::cuda
