// unroll-foreach: writes out the steps of loops with a body.

#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/Pass.h"

#include "executor/base/Limits.h"
#include "ir/sym/Attributes.h"
#include "ir/sym/Create.h"
#include "ir/sym/Diagnose.h"
#include "ir/sym/LoopOps.h"
#include "passes/Passes.h"

namespace lstmc::passes {

#define GEN_PASS_DEF_UNROLLFOREACH
#include "passes/Passes.h.inc"

namespace {

using mlir::Value;

/// Step `t` of a value [T, ..], without axis 0.
Value sliceOf(mlir::OpBuilder &builder, mlir::Location loc, Value whole, int64_t t) {
  Value window = sym::createSliceAxis(builder, loc, whole, 0, t, t + 1);
  auto type = sym::rankedType(whole);
  return builder.create<sym::SqueezeOp>(loc, type.clone(type.getShape().drop_front()), window,
                                        builder.getDenseI64ArrayAttr({0}));
}

void unroll(sym::ForeachOp loop) {
  mlir::OpBuilder builder(loop);
  mlir::Location loc = loop.getLoc();
  mlir::Block &body = loop.getBody().front();
  const int64_t steps = sym::rankedType(loop.getData().front()).getDimSize(0);
  const size_t outputs = loop.outputCount();
  llvm::SmallVector<Value> states(loop.getStates());
  llvm::SmallVector<llvm::SmallVector<Value>> rows(outputs);
  for (int64_t t = 0; t < steps; ++t) {
    mlir::IRMapping map;
    unsigned argument = 0;
    for (Value whole : loop.getData())
      map.map(body.getArgument(argument++), sliceOf(builder, loc, whole, t));
    for (Value state : states)
      map.map(body.getArgument(argument++), state);
    for (mlir::Operation &op : body.without_terminator())
      builder.clone(op, map);
    for (auto [i, value] : llvm::enumerate(loop.next().getValues()))
      (i < outputs ? rows[i].emplace_back() : states[i - outputs]) = map.lookupOrDefault(value);
  }
  llvm::SmallVector<Value> results;
  for (auto [i, parts] : llvm::enumerate(rows)) {
    auto stack = builder.create<sym::StackOp>(loc, loop.getResult(unsigned(i)).getType(), parts,
                                              builder.getI64IntegerAttr(0));
    if (mlir::Attribute name = loop->getAttr(sym::kNameAttr); name && outputs == 1)
      stack->setAttr(sym::kNameAttr, name);
    results.push_back(stack);
  }
  results.append(states);
  loop->replaceAllUsesWith(results);
  loop.erase();
}

struct UnrollForeach : impl::UnrollForeachBase<UnrollForeach> {
  void runOnOperation() override {
    llvm::SmallVector<sym::ForeachOp> loops; // those in a body before the loop around them
    getOperation().walk([&](sym::ForeachOp loop) { loops.push_back(loop); });
    for (sym::ForeachOp loop : loops) {
      const int64_t steps = sym::rankedType(loop.getData().front()).getDimSize(0);
      const auto ops = int64_t(loop.getBody().front().getOperations().size());
      if (steps > int64_t(Limits().nodes) / ops) {
        sym::emitCoded(loop.getLoc(), ErrorCode::E0311)
            << "a loop of " << steps << " steps of " << ops << " ops has more than "
            << int64_t(Limits().nodes) << " nodes";
        return signalPassFailure();
      }
      unroll(loop);
    }
  }
};

} // namespace
} // namespace lstmc::passes
