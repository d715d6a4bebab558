// Which values the inputs of a net may hold.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

#include "executor/base/ValueRange.h"

namespace lstmc::passes {

/// By the names of those inputs all of whose elements go to ops that read them as positions
/// (IndexRule), as they are or moved (MovementRule): the positions that there are. Where several
/// ops read one input, those that all of them have; of parts that different ops read, those that
/// any of them has. `module` holds one net whose shapes are known.
llvm::StringMap<ValueRange> inputRanges(mlir::ModuleOp module);

} // namespace lstmc::passes
