// The order of the passes.
#pragma once

#include "mlir/Pass/PassManager.h"

#include "passes/Compile.h"

namespace lstmc::passes {

/// Pipeline from a sym net with known shapes to an exec.plan with a validated memory plan, or up to
/// `stopAfter`.
void buildPipeline(mlir::OpPassManager &pipeline, const CompileOptions &options);

/// Names of the pipeline's passes, in order, without those in `disabled`.
std::vector<std::string> passNames(const CompileOptions &options);

/// Valid values of `disabled`: passes, and parts of plan-memory, that only make the program faster
/// or smaller.
std::vector<std::string> optimisations();

/// Registers the pipeline `--lstmc` with default options, for lstmc opt.
void registerPipelines();

} // namespace lstmc::passes
