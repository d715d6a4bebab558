// The order of the passes, and the reasons for it.
#pragma once

#include "mlir/Pass/PassManager.h"

#include "passes/Compile.h"

namespace lstmc::passes {

/// From a net of sym with all shapes known to a package, or as far as `stopAfter`. The package is
/// put into `into`; without it, its size and hash are left on the plan (lower-to-package).
void buildPipeline(mlir::OpPassManager &pipeline, const CompileOptions &options,
                   package::PackageData *into = nullptr);

/// Its passes by name, in order; those of `disabled` are not among them.
std::vector<std::string> passNames(const CompileOptions &options);

/// What `disabled` may name: the passes that only make the program faster or smaller, and such
/// parts of plan-memory.
std::vector<std::string> optimisations();

/// For lstmc opt: the pipeline `lstmc{...}` with the options of PipelineOptions.h.
void registerPipelines();

} // namespace lstmc::passes
