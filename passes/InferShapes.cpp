// infer-shapes: propagates the relations of ops through the net until nothing changes.

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

#include "ir/sym/ShapeRelation.h"
#include "passes/Passes.h"

namespace lstmc::passes {

#define GEN_PASS_DEF_INFERSHAPES
#include "passes/Passes.h.inc"

namespace {

class InferShapes : public impl::InferShapesBase<InferShapes> {
  void runOnOperation() override {
    mlir::func::FuncOp function = getOperation();
    if (function.empty())
      return;
    mlir::Block &block = function.front();
    sym::ShapeSolver solver;
    if (failed(solver.settleAll(block)) || failed(solver.closeTypes(block)) ||
        failed(sym::checkClosed(block)))
      return signalPassFailure();
    function.setType(mlir::FunctionType::get(&getContext(), block.getArgumentTypes(),
                                             block.getTerminator()->getOperandTypes()));
  }
};

} // namespace

} // namespace lstmc::passes
