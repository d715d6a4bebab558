// Conversion of sym.fused bodies to fused programs of the plan; equal bodies share a program.
#pragma once

#include <map>
#include <vector>

#include "ir/exec/Exec.h"
#include "ir/sym/SymOps.h"

namespace lstmc::passes {

/// Size of a body, compared with the limits of abi/ScalarOps.h.
struct FusedSize {
  int instructions = 0;
  int operands = 0;
  int live = 0; ///< maximum of live values: operands, and results that a later instruction or a
                ///< store reads

  bool withinLimits() const {
    return instructions <= kMaxFusedInstructions && operands <= kMaxFusedOperands &&
           live <= kMaxFusedLive;
  }
};

/// Measures a body with `results` results.
FusedSize measureBody(mlir::Block &body);

/// The window (executor/abi/ElementWindow.h) of an op that draws random numbers, or contains one
/// that does; null if there is none.
mlir::DenseI64ArrayAttr windowOf(mlir::Operation *op);

class FusedPrograms {
public:
  /// Programs are inserted before `place`.
  explicit FusedPrograms(mlir::Operation *place) : place(place) {}

  /// The program that computes `body` (arguments, sym.scalar ops, sym.yield) from operands of types
  /// `inputs` to results of types `outputs`, which are its last operands. Equal bodies share one
  /// program.
  int64_t idOf(mlir::Block &body, llvm::ArrayRef<mlir::Type> inputs,
               llvm::ArrayRef<mlir::Type> outputs);

private:
  mlir::Operation *place;
  std::map<std::vector<int64_t>, int64_t> ids;
};

} // namespace lstmc::passes
