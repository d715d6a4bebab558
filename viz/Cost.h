// How long pictures say that work takes: an estimate from what it computes and moves. No clock has
// a part in it.
#pragma once

#include <string>

#include "backends/target/Target.h"
#include "executor/package/PackageData.h"
#include "ir/exec/Exec.h"

namespace lstmc::viz {

using target::Work;

/// What an op of sym says of itself (CostRule); of a fused op, what its body does to every element.
Work workOf(mlir::Operation *op);

/// The same from a kernel and its operands, as a plan has them.
Work workOf(exec::LaunchOp launch);

/// What the machine is whose times are drawn: "estimate: ...".
std::string ratesText(const target::Machine &machine);

/// "1.25 ms".
std::string durationText(double seconds);

} // namespace lstmc::viz
