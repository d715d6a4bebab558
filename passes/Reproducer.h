// Runs a pipeline; writes a reproducer file when it fails without an error that the user can act
// on.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

#include "executor/base/Diagnostic.h"
#include "executor/base/Status.h"
#include "passes/Compile.h"

namespace lstmc::passes {

/// Runs `manager` over `module`; `diagnostics` collects the errors of the context's handler. If it
/// fails without an error, or with one without a code (E0099), writes the original module and the
/// pipeline to lstmc-reproducer-HASH.mlir (HASH of the contents) in the current folder, or else in
/// the folder for temporary files. The error gets a reason with the `lstmc opt` command that
/// reproduces it. Costs one copy of the module.
mlir::LogicalResult runOrReproduce(mlir::PassManager &manager, mlir::ModuleOp module,
                                   Diagnostics &diagnostics);

/// Error for a compiled package that fails its own validation, a fault of the compiler: E0099 at
/// the user's line of the launch concerned, with the message of the check and a reproducer of the
/// original net.
Diagnostic explainRefusal(const Error &error, const package::PackageData &data,
                          mlir::ModuleOp before, const CompileOptions &options);

} // namespace lstmc::passes
