// Estimated work and time of ops and launches, for pictures. Nothing is measured.
#pragma once

#include <string>

#include "backends/target/Target.h"
#include "executor/package/PackageData.h"
#include "ir/exec/Exec.h"

namespace lstmc::viz {

using target::Work;

/// Work of a sym op (CostRule); for a fused op, the work of its body times the elements.
Work workOf(mlir::Operation *op);

/// Work of a launch, from its kernel and operands.
Work workOf(exec::LaunchOp launch);

/// Description of the machine whose times are shown: "estimate: ...".
std::string ratesText(const target::Machine &machine);

/// "1.25 ms".
std::string durationText(double seconds);

} // namespace lstmc::viz
