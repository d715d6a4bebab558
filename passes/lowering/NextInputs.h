// A second place for inputs.
#pragma once

#include "passes/lowering/PlanBuilder.h"

namespace lstmc::passes {

/// A buffer for the next value of each input that the plan has by now, on devices whose memory the
/// host does not see. No launch has it as an operand.
void reserveNextInputs(PlanBuilder &plan);

} // namespace lstmc::passes
