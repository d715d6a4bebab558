// Loops that a source has written out and that no layer stands for.
#pragma once

#include <string>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace lstmc::passes {

/// Ops of one kind that read the same parameters, one after the other.
struct OtherLoop {
  std::string name; ///< of the first of these parameters, without its last words: "decoder"
  int64_t steps = 0;
};

/// A parameter belongs to a loop if an op that reads it depends on another op of the same kind that
/// reads it; parameters whose readers depend on each other are one loop. Loops with a parameter of
/// `known` are left out. Linear in ops for each 64 parameters that several ops read.
llvm::SmallVector<OtherLoop> otherLoops(mlir::func::FuncOp net,
                                        const llvm::DenseSet<mlir::Value> &known);

/// The name of a layer, from that of one of its parameters: "lstm0" of "lstm0_i2h_weight".
llvm::StringRef layerNameOf(llvm::StringRef parameter);

} // namespace lstmc::passes
