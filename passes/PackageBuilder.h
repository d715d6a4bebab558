// Conversion of a planned exec.plan to package data.
#pragma once

#include <memory>

#include "mlir/Pass/Pass.h"

#include "executor/package/PackageData.h"
#include "ir/exec/Exec.h"

namespace lstmc::passes {

/// Everything in the package except the facts of the module (PackageFacts.h). The plan must have
/// offsets and be validated. Equal plans produce equal data.
package::PackageData buildPackage(exec::PlanOp plan);

/// Converts an MLIR location. Launches and buffers carry a NameLoc "OP NAME" around the source
/// location.
package::Location locationOf(mlir::Location location);

/// The pass lower-to-package with its result stored in `into`.
std::unique_ptr<mlir::Pass> createLowerToPackageInto(package::PackageData &into);

} // namespace lstmc::passes
