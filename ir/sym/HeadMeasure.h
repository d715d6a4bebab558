// With what a loss head is measured.
#pragma once

#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include "ir/sym/BatchPosition.h"

namespace lstmc::sym {

struct HeadMeasure {
  int64_t shards;     ///< that the batch is cut into
  BatchPosition rows; ///< of the batch, in the head's data
  /// What the gradient of the head is divided by on its way into an update, so that the reported
  /// loss is the one that is minimised: the rows of the batch, or 1.
  int64_t divisor;
  /// Extents of an operand with all rows of the batch, also where this program has some of them.
  llvm::function_ref<llvm::SmallVector<int64_t>(mlir::Value)> wholeShape;
};

} // namespace lstmc::sym
