// chain-sums: splits the sum of a weight's gradient over chunks of steps into one sum per chunk,
// each continuing the previous one in backward order.

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

#include "ir/sym/Diagnose.h"
#include "ir/sym/SymOps.h"
#include "passes/Chunks.h"
#include "passes/Passes.h"

namespace lstmc::passes {

#define GEN_PASS_DEF_CHAINSUMS
#include "passes/Passes.h.inc"

namespace {

using mlir::Operation;
using mlir::Value;

/// The last op that defines one of `operands`; null if all are arguments.
Operation *latestMaker(llvm::ArrayRef<Value> operands) {
  Operation *latest = nullptr;
  for (Value operand : operands)
    if (Operation *maker = operand.getDefiningOp();
        maker && (!latest || latest->isBeforeInBlock(maker)))
      latest = maker;
  return latest;
}

/// Consecutive uses of a sum with the same chunk.
struct Run {
  size_t first, count;
};

llvm::SmallVector<Run> runsOf(llvm::ArrayRef<int64_t> chunks) {
  llvm::SmallVector<Run> runs;
  for (auto [use, chunk] : llvm::enumerate(chunks))
    if (use > 0 && chunk == chunks[use - 1])
      ++runs.back().count;
    else
      runs.push_back({use, 1});
  return runs;
}

/// Emits the sum over the uses in `run`, continuing `begin` if it is set.
sym::WeightGradientOp part(mlir::OpBuilder &builder, sym::WeightGradientOp sum, Run run,
                           Value begin) {
  auto of = [&](auto list) { return list.slice(run.first, run.count); };
  auto initialsBefore = size_t(llvm::count(sum.getHasInitial().take_front(run.first), 1));
  auto initials = size_t(llvm::count(of(sum.getHasInitial()), 1));
  return builder.create<sym::WeightGradientOp>(
      sum.getLoc(), sum.getDw().getType(), of(sum.getDys()), of(sum.getXs()),
      sum.getInitials().slice(initialsBefore, initials), begin, of(sum.getKinds()),
      of(sum.getHasInitial()), of(sum.getOuter()), sum.getBatch(), of(sum.getInner()),
      sum.getShards(), sum.getFirst(), sum.getCount());
}
sym::BiasGradientOp part(mlir::OpBuilder &builder, sym::BiasGradientOp sum, Run run, Value begin) {
  auto of = [&](auto list) { return list.slice(run.first, run.count); };
  return builder.create<sym::BiasGradientOp>(
      sum.getLoc(), sum.getDb().getType(), of(sum.getDys()), begin, of(sum.getOuter()),
      sum.getBatch(), of(sum.getInner()), sum.getShards(), sum.getFirst(), sum.getCount());
}

template <typename Sum> mlir::LogicalResult chain(Sum sum) {
  auto chunks = sum->template getAttrOfType<mlir::DenseI64ArrayAttr>(kUseChunksAttr);
  if (!chunks)
    return mlir::success();
  sum->removeAttr(kUseChunksAttr);
  llvm::SmallVector<Run> runs = runsOf(chunks.asArrayRef());
  if (int64_t shards = sum.range().count; shards > 1)
    return sym::emitCoded(sum, ErrorCode::E0402)
           << "backward cannot compute the steps again in segments: a part of the batch has "
           << shards
           << " shards, each of which would need a sum of its own over the segments; with 1 "
              "shard (--shards 1), or with as many parts as shards (--accumulate), each part has "
              "one";
  mlir::OpBuilder builder(sum);
  Value begin;
  for (Run run : runs) {
    Sum made = part(builder, sum, run, begin);
    made->setDiscardableAttrs(sum->getDiscardableAttrDictionary());
    if (Operation *latest = latestMaker(llvm::SmallVector<Value>(made->getOperands())))
      made->moveAfter(latest);
    begin = made->getResult(0);
  }
  sum->getResult(0).replaceAllUsesWith(begin);
  sum->erase();
  return mlir::success();
}

struct ChainSums : impl::ChainSumsBase<ChainSums> {
  using ChainSumsBase::ChainSumsBase;

  void runOnOperation() override {
    mlir::WalkResult walked = getOperation().walk([](Operation *op) -> mlir::WalkResult {
      if (auto weight = llvm::dyn_cast<sym::WeightGradientOp>(op))
        return chain(weight);
      if (auto bias = llvm::dyn_cast<sym::BiasGradientOp>(op))
        return chain(bias);
      return mlir::success();
    });
    if (walked.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
} // namespace lstmc::passes
