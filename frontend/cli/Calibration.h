// What launches take on this machine, measured: small networks of the usual shapes are trained for
// a moment and watched; and how long messages take.
#pragma once

#include "backends/cpu/compiler/CostModel.h"
#include "executor/base/Status.h"

namespace lstmc::cli {

/// The figures of a device with that many threads; some seconds.
Result<cpu::Machine> measureMachine(int threads);

} // namespace lstmc::cli
