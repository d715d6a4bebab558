// Recognises one unrolled step of a recurrent layer.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "llvm/ADT/SetVector.h"

#include "executor/abi/Gate.h"
#include "ir/sym/SymOps.h"

namespace lstmc::passes {

/// The ops of a step. Operands are looked up on use, because layers below may have been rolled
/// since.
struct Cell {
  RnnMode mode = RnnMode::Lstm;
  mlir::Value h, c; ///< values after the step; c only for lstm
  /// The two products whose sums are the gates. For gru the first is the input's; for other modes
  /// the neighbouring steps determine which one is.
  sym::FullyConnectedOp products[2];
  /// Which block of rows of the weights each gate has; -1 before it is found.
  std::array<int64_t, 4> blocks = {-1, -1, -1, -1};
  mlir::OpOperand *stateBefore = nullptr; ///< the use of the previous c (for gru, h)
  llvm::SmallSetVector<mlir::Operation *, 16> ops;
  std::string reason; ///< why this is not a step of a layer; empty if it is one

  /// The value that the next step reads as `stateBefore`, or as the input of a product.
  mlir::Value state() const { return c ? c : h; }
  int64_t units() const;
  /// Whether the gates stand in the weights as in those of `sym.rnn`.
  bool gatesInOrder() const;
};

/// The step that ends with `op` producing h; nullopt if there is none.
std::optional<Cell> cellThatEndsWith(mlir::Operation *op);

} // namespace lstmc::passes
