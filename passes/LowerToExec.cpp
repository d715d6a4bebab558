// lower-to-exec: lowers entries of sym to programs of launches, with the classes in lowering/.

#include "passes/Passes.h"
#include "passes/lowering/EntryLowering.h"
#include "passes/lowering/NextInputs.h"
#include "passes/lowering/Tables.h"

namespace lstmc::passes {

#define GEN_PASS_DEF_LOWERTOEXEC
#include "passes/Passes.h.inc"

namespace {

struct LowerToExec : impl::LowerToExecBase<LowerToExec> {
  using LowerToExecBase::LowerToExecBase;

  void runOnOperation() override {
    mlir::ModuleOp module = getOperation();
    auto entries = llvm::to_vector(module.getOps<mlir::func::FuncOp>());
    std::vector<std::string> names(devices.begin(), devices.end());
    if (names.empty())
      names = {"cpu:0"};
    llvm::SmallVector<mlir::Operation *> old;
    for (mlir::Operation &op : *module.getBody())
      old.push_back(&op);
    const FastRules rules =
        fast.empty() ? FastRules() : fastRulesOf("+" + fast).value_or(FastRules());
    PlanBuilder plan(module, names);
    if (failed(plan.declare(module)))
      return signalPassFailure();
    for (mlir::func::FuncOp entry : entries)
      if (failed(EntryLowering(plan, entry, names, rules).run()))
        return signalPassFailure();
    reserveTables(plan);
    if (nextInputs)
      reserveNextInputs(plan);
    for (mlir::Operation *op : llvm::reverse(old))
      op->erase();
  }
};

} // namespace
} // namespace lstmc::passes
