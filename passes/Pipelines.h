// The order of the passes.
#pragma once

#include "mlir/Pass/PassManager.h"

#include "passes/Compile.h"

namespace lstmc::passes {

/// Pipeline from a sym net with known shapes to a package, or up to `stopAfter`. The package is
/// stored in `into`; without it, its size and hash are left on the plan (lower-to-package).
void buildPipeline(mlir::OpPassManager &pipeline, const CompileOptions &options,
                   package::PackageData *into = nullptr);

/// Names of the pipeline's passes, in order, without those in `disabled`.
std::vector<std::string> passNames(const CompileOptions &options);

/// Valid values of `disabled`: passes, and parts of plan-memory, that only make the program faster
/// or smaller.
std::vector<std::string> optimisations();

/// Registers the pipeline `lstmc{...}` with the options of PipelineOptions.h, for lstmc opt.
void registerPipelines();

} // namespace lstmc::passes
