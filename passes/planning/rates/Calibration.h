// Measures launch and message times on this machine by training small nets of typical shapes.
#pragma once

#include "backends/target/Machine.h"
#include "executor/base/Status.h"

namespace lstmc::planning {

/// Time budget of a measurement: as long as needed, or about a second on an idle machine.
enum class Effort { Full, ASecond };

/// Measured rates of a cpu device with `threads` threads.
Result<target::Machine> measureMachine(int threads, Effort effort = Effort::Full);

} // namespace lstmc::planning
