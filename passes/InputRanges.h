// Valid value ranges of the inputs of a net.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

#include "executor/base/ValueRange.h"

namespace lstmc::passes {

/// For each input whose elements are all used as indices (IndexRule), directly or after a data
/// movement (MovementRule): the range of valid indices, by input name. If several ops read the same
/// elements, the intersection of their ranges; if different ops read different elements, the union.
/// `module` holds one net with known shapes.
llvm::StringMap<ValueRange> inputRanges(mlir::ModuleOp module);

} // namespace lstmc::passes
