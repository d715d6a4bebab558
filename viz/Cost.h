// How long pictures say that work takes: an estimate from what it computes and moves. No clock has a part in it.
#pragma once

#include <string>

#include "backends/cpu/compiler/Choice.h"
#include "executor/package/PackageData.h"
#include "ir/exec/Exec.h"

namespace lstmc::viz {

/// Floating-point operations, an fma counting two and one of f64 as two of f32, and bytes, each tensor once.
struct Work {
  int64_t flops = 0, bytes = 0;
};

/// What an op of sym says of itself (CostRule); of a fused op, what its body does to every element.
Work workOf(mlir::Operation *op);

/// The same from a kernel and its operands, as a plan and as a package have them.
Work workOf(exec::LaunchOp launch);
Work workOf(const package::PackageData &package, const package::Launch &launch);

struct Rates {
  cpu::CoreFigures figures; ///< the compiler's own where no machine was measured
  int measuredThreads = 0;  ///< 0: not measured

  double seconds(const Work &work) const { return cpu::estimateSeconds(work.flops, work.bytes, figures); }
  /// "estimate: the longer of ..., by the rates ...".
  std::string text() const;
};

/// "1.25 ms".
std::string durationText(double seconds);

} // namespace lstmc::viz
