// An LSTM layer whose cell is none of `sym.rnn_layer`'s, written out step by step.
#pragma once

#include "mlir/IR/Builders.h"

#include "ir/sym/SymOps.h"

namespace lstmc::passes {

/// What one direction of a layer reads. T steps, N sequences, H units; S is the width of what goes
/// from step to step: P with a projection, else H.
struct RnnSteps {
  mlir::Value x;          ///< [T, N, inputs]
  mlir::Value w, r;       ///< [4H, inputs], [4H, S]
  mlir::Value projection; ///< [P, H], or null
  mlir::Value bi, bh;     ///< [4H]
  mlir::Value h0, c0;     ///< [N, S], [N, H], or null for zeros
  mlir::Value length;     ///< [N], or null: all steps are real
  bool reverse = false;   ///< from step T-1 to 0
  mlir::StringAttr name;  ///< of the op that gives y, or null
};

/// y [T, N, S], and the states after the last real step.
struct RnnStates {
  mlir::Value y, h, c;
};

/// The ops of all steps, with the clipping that `rnn` says. Sums are those of `sym.rnn_layer`:
/// (W x + bi) + (R h + bh).
RnnStates writeSteps(mlir::OpBuilder &builder, sym::RnnOp rnn, const RnnSteps &steps);

} // namespace lstmc::passes
