// Parameters of the measures of a loss head.
#pragma once

#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include "ir/sym/BatchPosition.h"

namespace lstmc::sym {

struct HeadMeasure {
  int64_t shards;     ///< number of shards of the batch
  BatchPosition rows; ///< where the batch is in the head's data
  /// The number by which an update divides the gradient of the head, so that the reported loss is
  /// the one that is minimised: the rows of the batch, or 1.
  int64_t divisor;
  /// Extents of an operand with all rows of the batch, even if this program has only some of them.
  llvm::function_ref<llvm::SmallVector<int64_t>(mlir::Value)> wholeShape;
  int64_t fields; ///< kMetricFields or kEvaluationFields (executor/abi/Kernels.h)
};

} // namespace lstmc::sym
