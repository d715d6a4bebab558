// Double buffering of inputs.
#pragma once

#include "passes/lowering/PlanBuilder.h"

namespace lstmc::passes {

/// Adds a second buffer for each input of the plan so far, on devices whose memory the host cannot
/// access. Launches do not use it.
void reserveNextInputs(PlanBuilder &plan);

} // namespace lstmc::passes
