// Locations of launches.
#pragma once

#include "mlir/IR/Operation.h"

namespace lstmc::passes {

/// The op's place in the source, with "OP NAME" around it: the op as the user called it, and the
/// name of its node. PackageBuilder splits it again.
mlir::Location launchLocation(mlir::Operation *op);

} // namespace lstmc::passes
