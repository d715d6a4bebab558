// Bodies of sym.fused as fused programs of the plan, each kept once.
#pragma once

#include <map>
#include <vector>

#include "ir/exec/Exec.h"
#include "ir/sym/SymOps.h"

namespace lstmc::passes {

/// What a body needs of the limits of abi/ScalarOps.h.
struct FusedSize {
  int instructions = 0;
  int operands = 0;
  int live =
      0; ///< values alive at once: operands, and results that a later instruction or a store reads

  bool withinLimits() const {
    return instructions <= kMaxFusedInstructions && operands <= kMaxFusedOperands &&
           live <= kMaxFusedLive;
  }
};

/// Of a body with `results` results.
FusedSize measureBody(mlir::Block &body);

/// The window (executor/abi/ElementWindow.h) of an op that draws random numbers, or holds ops that
/// do; null: none.
mlir::DenseI64ArrayAttr windowOf(mlir::Operation *op);

class FusedPrograms {
public:
  /// Programs are put before `place`.
  explicit FusedPrograms(mlir::Operation *place) : place(place) {}

  /// The program that computes `body` (arguments, sym.scalar ops, sym.yield) from operands stored
  /// as `inputs` to results stored as `outputs`, which are its last operands. Equal bodies have one
  /// program.
  int64_t idOf(mlir::Block &body, llvm::ArrayRef<mlir::Type> inputs,
               llvm::ArrayRef<mlir::Type> outputs);

private:
  mlir::Operation *place;
  std::map<std::vector<int64_t>, int64_t> ids;
};

} // namespace lstmc::passes
