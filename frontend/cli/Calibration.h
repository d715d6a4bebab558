// What launches take on this machine, measured: small networks of the usual shapes are trained for a moment and watched.
#pragma once

#include "backends/cpu/compiler/CostModel.h"
#include "executor/base/Status.h"

namespace lstmc::cli {

/// The figures of a device with that many threads; some seconds.
Result<cpu::Machine> measureMachine(int threads);

} // namespace lstmc::cli
