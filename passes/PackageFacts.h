// Facts of the source and of the compiler that a package keeps: an attribute of the module, so that
// the module alone determines the package.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include "executor/package/PackageData.h"
#include "passes/Compile.h"

namespace lstmc::passes {

/// Sets `sym.package` on a module that no pass has changed yet: producer, net, graph hash,
/// numerics, shards, and the settings of net, fit and data.
void recordPackageFacts(mlir::ModuleOp module, const CompileOptions &options);

/// Sets `sym.lines`: the source lines that the locations of the module's ops refer to, which are
/// kept beside the IR. Only a module that is printed needs it.
void recordSourceLines(mlir::ModuleOp module);

/// Moves the contents of `sym.lines` to the dialect's SourceText, in which locations look them up.
void takeSourceLines(mlir::ModuleOp module);

/// Moves the contents of `sym.package`, `sym.packed` and `sym.input_ranges` into the package.
void takePackageFacts(mlir::ModuleOp module, package::PackageData &data);

} // namespace lstmc::passes
