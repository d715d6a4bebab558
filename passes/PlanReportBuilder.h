// Tells a planned exec.plan.
#pragma once

#include "ir/exec/Exec.h"
#include "passes/PlanReport.h"

namespace lstmc::passes {

/// The plan has offsets. Linear, but for sorting what is alive at the peak.
PlanReport buildPlanReport(exec::PlanOp plan);

} // namespace lstmc::passes
