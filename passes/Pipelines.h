// The order of the passes, and the reasons for it.
#pragma once

#include "mlir/Pass/PassManager.h"

#include "passes/Compile.h"

namespace lstmc::passes {

/// From a net of sym with all shapes known to an exec.plan whose memory is planned and proved, or
/// as far as `stopAfter`.
void buildPipeline(mlir::OpPassManager &pipeline, const CompileOptions &options);

/// Its passes by name, in order; those of `disabled` are not among them.
std::vector<std::string> passNames(const CompileOptions &options);

/// What `disabled` may name: the passes that only make the program faster or smaller, and such
/// parts of plan-memory.
std::vector<std::string> optimisations();

/// `--lstmc`: the same with default options, for lstmc opt.
void registerPipelines();

} // namespace lstmc::passes
