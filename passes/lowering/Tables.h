// Memory for what launches read besides their operands.
#pragma once

#include "passes/lowering/PlanBuilder.h"

namespace lstmc::passes {

/// A buffer that persists on each device whose target wants one for the tables of its launches, for
/// the launches that the plan has by now. No launch has it as an operand.
void reserveTables(PlanBuilder &plan);

} // namespace lstmc::passes
