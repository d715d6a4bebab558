// A pipeline that, when it fails without a reason that the user can act on, leaves what we need to
// see it fail.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

#include "executor/base/Diagnostic.h"
#include "executor/base/Status.h"
#include "passes/Compile.h"

namespace lstmc::passes {

/// Runs `manager` over `module`; `diagnostics` is where the context's handler puts what is said
/// meanwhile. When that is nothing, or an error without a code of ours (E0099), the module as it
/// was before and the pipeline are written to lstmc-reproducer-HASH.mlir (HASH of the contents), in
/// the current folder or else that of temporary files, and a reason of that error says how `lstmc
/// opt` runs it. Costs one copy of the module.
mlir::LogicalResult runOrReproduce(mlir::PassManager &manager, mlir::ModuleOp module,
                                   Diagnostics &diagnostics);

/// A package of ours that its own check refuses is a fault of the compiler: E0099 at the line of
/// the user whose launch it is about, with what the check says and, as above, the net as it was
/// before.
Diagnostic explainRefusal(const Error &error, const package::PackageData &data,
                          mlir::ModuleOp before, const CompileOptions &options);

} // namespace lstmc::passes
