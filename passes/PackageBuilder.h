// A planned exec.plan as package data.
#pragma once

#include <memory>

#include "mlir/Pass/Pass.h"

#include "executor/package/PackageData.h"
#include "ir/exec/Exec.h"

namespace lstmc::passes {

/// Everything but the facts of the module (PackageFacts.h). The plan has offsets and
/// was validated. Equal plans give equal data.
package::PackageData buildPackage(exec::PlanOp plan);

/// Where something comes from, as packages and plans say it. Launches and buffers carry a NameLoc
/// "OP NAME" around the place in the source.
package::Location locationOf(mlir::Location location);

/// lower-to-package that leaves its result in `into`.
std::unique_ptr<mlir::Pass> createLowerToPackageInto(package::PackageData &into);

} // namespace lstmc::passes
