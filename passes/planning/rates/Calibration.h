// What launches take on this machine, measured: small networks of the usual shapes are trained for
// a moment and watched; and how long messages take.
#pragma once

#include "backends/target/Machine.h"
#include "executor/base/Status.h"

namespace lstmc::planning {

/// How long may be measured: as long as it takes, or about a second on an idle machine.
enum class Effort { Full, ASecond };

/// The figures of a cpu with that many threads.
Result<target::Machine> measureMachine(int threads, Effort effort = Effort::Full);

} // namespace lstmc::planning
