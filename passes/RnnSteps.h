// Unrolls an LSTM layer whose cell `sym.rnn_layer` does not support.
#pragma once

#include "mlir/IR/Builders.h"

#include "ir/sym/SymOps.h"

namespace lstmc::passes {

/// Operands of one direction of a layer. T steps, N sequences, H units; S is the width of the
/// recurrent state: P with a projection, else H.
struct RnnSteps {
  mlir::Value x;          ///< [T, N, inputs]
  mlir::Value w, r;       ///< [4H, inputs], [4H, S]
  mlir::Value projection; ///< [P, H], or null
  mlir::Value bi, bh;     ///< [4H]
  mlir::Value h0, c0;     ///< [N, S], [N, H], or null for zeros
  mlir::Value length;     ///< [N], or null: all sequences have T steps
  bool reverse = false;   ///< from step T-1 to 0
  mlir::StringAttr name;  ///< of the op that produces y, or null
};

/// y [T, N, S], and the states after the last step of each sequence.
struct RnnStates {
  mlir::Value y, h, c;
};

/// Emits the ops of all steps, with the clipping of `rnn`. Sums are ordered as in `sym.rnn_layer`:
/// (W x + bi) + (R h + bh).
RnnStates writeSteps(mlir::OpBuilder &builder, sym::RnnOp rnn, const RnnSteps &steps);

} // namespace lstmc::passes
