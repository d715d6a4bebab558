// replicate: copies the net for each part of the batch.

#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/Pass.h"

#include "ir/sym/Attributes.h"
#include "ir/sym/Diagnose.h"
#include "passes/BatchPositions.h"
#include "passes/Passes.h"
#include "passes/Replica.h"
#include "passes/RowMarks.h"

namespace lstmc::passes {

#define GEN_PASS_DEF_REPLICATE
#include "passes/Passes.h.inc"

namespace {

struct Replicate : impl::ReplicateBase<Replicate> {
  using ReplicateBase::ReplicateBase;

  void runOnOperation() override {
    auto nets = llvm::to_vector(getOperation().getOps<mlir::func::FuncOp>());
    llvm::SmallVector<int64_t> shares(loads.begin(), loads.end());
    if (shares.empty())
      shares.assign(size_t(std::max<int64_t>(replicas, 1)), 1);
    if (shares.size() * size_t(accumulate) < 2 || nets.size() != 1)
      return;
    mlir::func::FuncOp net = nets.front();
    const BatchPositions positions(net);
    if (failed(checkRows(net, positions)))
      return signalPassFailure();
    llvm::SmallVector<BatchPart> parts = shareOut(positions.size(), shards, shares, accumulate);
    if (parts.size() < 2)
      return;
    setShare(net, kWhole, 0, {parts.front().share.batch, shards, 0, shards});
    llvm::SmallVector<int64_t> rows;
    for (const BatchPart &part : parts)
      rows.push_back(part.share.rows());
    RowMarks marks(net, rows);
    auto builder = mlir::OpBuilder::atBlockEnd(getOperation().getBody());
    for (auto [number, part] : llvm::enumerate(parts)) {
      mlir::IRMapping map;
      auto replica = llvm::cast<mlir::func::FuncOp>(builder.clone(*net, map));
      replica.setName((net.getName() + "@" + llvm::Twine(number)).str());
      setShare(replica, int64_t(number), part.replica, part.share);
      makeSmaller(net, replica, map, marks, part.share.rows());
    }
  }

private:
  /// E0402 if inputs whose first axis is assumed to be the batch have different extents there, or
  /// differ from a dim "batch" of a value without operands.
  static mlir::LogicalResult checkRows(mlir::func::FuncOp net, const BatchPositions &positions) {
    auto check = [&](mlir::Operation *at, const llvm::Twine &value, sym::BatchPosition rows) {
      if (!rows || rows.batch == positions.size())
        return mlir::success();
      mlir::LogicalResult refused = sym::emitCoded(at, ErrorCode::E0402)
                                    << "parts of the batch need one number of rows: " << value
                                    << " has " << rows.batch << " on axis " << rows.axis
                                    << ", others have " << positions.size()
                                    << "; dim(\"batch\", N) names the axis of the rows";
      return refused;
    };
    for (mlir::BlockArgument argument : net.getArguments()) {
      auto name = net.getArgAttrOfType<mlir::StringAttr>(argument.getArgNumber(), sym::kNameAttr);
      if (failed(check(net, "input \"" + (name ? name.getValue() : llvm::StringRef()) + "\"",
                       positions.of(argument))))
        return mlir::failure();
    }
    for (mlir::Operation &op : net.front())
      if (op.getNumOperands() == 0 && op.getNumResults() == 1 &&
          failed(check(&op, "the value made here", positions.of(op.getResult(0)))))
        return mlir::failure();
    return mlir::success();
  }

  /// Shrinks the values that the marks say have rows to the rows of a part.
  static void makeSmaller(mlir::func::FuncOp net, mlir::func::FuncOp replica, mlir::IRMapping &map,
                          const RowMarks &marks, int64_t rows) {
    auto shrink = [&](mlir::Value value) {
      map.lookup(value).setType(typeOfPart(value.getType(), marks.of(value), rows));
    };
    // All at once: one by one, each would make a list of all.
    llvm::SmallVector<mlir::DictionaryAttr> attributes;
    for (mlir::BlockArgument argument : net.getArguments()) {
      mlir::NamedAttrList said(replica.getArgAttrDict(argument.getArgNumber()));
      said.set(sym::kWholeAttr, mlir::TypeAttr::get(argument.getType()));
      attributes.push_back(said.getDictionary(replica.getContext()));
      shrink(argument);
    }
    replica.setAllArgAttrs(attributes);
    for (mlir::Operation &op : net.front().without_terminator()) {
      llvm::for_each(op.getResults(), shrink);
      if (llvm::any_of(op.getResults(), [&](mlir::Value value) { return bool(marks.of(value)); }))
        sayExtents(map.lookup(op.getResult(0)).getDefiningOp());
    }
    mlir::Block &block = replica.front();
    replica.setType(mlir::FunctionType::get(replica.getContext(), block.getArgumentTypes(),
                                            block.getTerminator()->getOperandTypes()));
  }
};

} // namespace
} // namespace lstmc::passes
