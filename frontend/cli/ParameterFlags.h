// --fixed-params and --gradient-norms: what is asked of single parameters when a net is compiled.
#pragma once

#include "frontend/cli/Model.h"

namespace lstmc::cli {

/// Marks the parameters that --fixed-params keeps as they are, and those whose gradient norms
/// `step` gives: of all where the flags ask for that, and of nets so deep that gradients may
/// vanish. E0001 for a pattern that matches no parameter.
Status markParameters(mlir::ModuleOp module, const Options &options);

} // namespace lstmc::cli
