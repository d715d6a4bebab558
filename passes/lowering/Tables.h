// Memory for launch tables, which launches read besides their operands.
#pragma once

#include "passes/lowering/PlanBuilder.h"

namespace lstmc::passes {

/// Adds a persistent buffer for the tables of the launches so far on each device whose target needs
/// one. No launch has it as an operand.
void reserveTables(PlanBuilder &plan);

} // namespace lstmc::passes
