// One step of a recurrent layer, written out op by op.
#pragma once

#include <optional>
#include <string>

#include "llvm/ADT/SetVector.h"

#include "executor/abi/Gate.h"
#include "ir/sym/SymOps.h"

namespace lstmc::passes {

/// What the ops of a step read and make. Operands are asked for when they are needed: by then a
/// layer below may have been rolled.
struct Cell {
  RnnMode mode = RnnMode::Lstm;
  mlir::Value h, c; ///< after the step; c of lstm alone
  /// The two products whose sums the gates are. Of gru the first is that of the input; of others
  /// the steps before and after tell which it is.
  sym::FullyConnectedOp products[2];
  mlir::OpOperand *stateBefore = nullptr; ///< where c (of gru h) before the step is read
  llvm::SmallSetVector<mlir::Operation *, 16> ops;
  std::string reason; ///< why this is no step of a layer after all; empty: it is one

  /// What the next step reads as `stateBefore`, or as one of its products' inputs.
  mlir::Value state() const { return c ? c : h; }
  int64_t units() const;
};

/// The step that ends with this op's making h, if there is one.
std::optional<Cell> cellThatEndsWith(mlir::Operation *op);

} // namespace lstmc::passes
