// replicate: the net once per part of the batch, each over its own rows.

#include "mlir/Pass/Pass.h"

#include "ir/sym/Attributes.h"
#include "ir/sym/Diagnose.h"
#include "ir/sym/ShapeRelation.h"
#include "ir/sym/SymOps.h"
#include "passes/BatchPositions.h"
#include "passes/Passes.h"
#include "passes/Replica.h"

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
    llvm::SmallVector<BatchPart> parts =
        shareOut(BatchPositions(net).size(), shards, shares, accumulate);
    if (parts.size() < 2)
      return;
    setShare(net, kWhole, 0, {parts.front().share.batch, shards, 0, shards});
    auto builder = mlir::OpBuilder::atBlockEnd(getOperation().getBody());
    for (auto [number, part] : llvm::enumerate(parts)) {
      const Share &share = part.share;
      auto replica = llvm::cast<mlir::func::FuncOp>(builder.clone(*net));
      replica.setName((net.getName() + "@" + llvm::Twine(number)).str());
      setShare(replica, int64_t(number), part.replica, share);
      if (failed(makeSmaller(replica, share)))
        return signalPassFailure();
    }
  }

private:
  /// Inputs get the share's rows; all that follows from them is inferred again.
  mlir::LogicalResult makeSmaller(mlir::func::FuncOp replica, const Share &share) {
    BatchPositions positions(replica);
    mlir::Block &block = replica.front();
    for (mlir::BlockArgument argument : block.getArguments()) {
      auto whole = llvm::cast<mlir::RankedTensorType>(argument.getType());
      replica.setArgAttr(argument.getArgNumber(), sym::kWholeAttr, mlir::TypeAttr::get(whole));
      if (sym::BatchPosition position = positions.of(argument)) {
        llvm::SmallVector<int64_t> shape(whole.getShape());
        shape[position.axis] = share.rows();
        argument.setType(whole.clone(shape));
      }
    }
    for (mlir::Operation &op : block)
      if (!llvm::isa<sym::VariableOp>(op)) {
        cutExtents(&op, positions, share);
        for (mlir::Value result : op.getResults())
          result.setType(mlir::UnrankedTensorType::get(
              llvm::cast<mlir::TensorType>(result.getType()).getElementType()));
      }
    sym::ShapeSolver solver;
    if (failed(solver.settleAll(block)) || failed(solver.closeTypes(block)) ||
        failed(sym::checkClosed(block)))
      return mlir::failure();
    replica.setType(mlir::FunctionType::get(&getContext(), block.getArgumentTypes(),
                                            block.getTerminator()->getOperandTypes()));
    return mlir::success();
  }

  /// What was written as the dim of the batch becomes the share's.
  static void cutExtents(mlir::Operation *op, const BatchPositions &positions, const Share &share) {
    if (auto range = llvm::dyn_cast<sym::ArangeOp>(op); range && positions.of(range)) {
      range.setStart(llvm::APFloat(double(firstRow(share))));
      range.setStop(llvm::APFloat(double(firstRow(share) + share.rows())));
      return;
    }
    auto dims = op->getAttrOfType<mlir::ArrayAttr>(sym::kDimsAttr);
    auto shape = op->getAttrOfType<mlir::DenseI64ArrayAttr>("shape");
    if (!dims || !shape)
      return;
    llvm::SmallVector<int64_t> extents(shape.asArrayRef());
    for (auto [extent, dim] : llvm::zip_equal(extents, dims.getAsValueRange<mlir::StringAttr>()))
      if (dim == sym::kBatchDim)
        extent = share.rows();
    op->setAttr("shape", mlir::DenseI64ArrayAttr::get(op->getContext(), extents));
  }
};

} // namespace
} // namespace lstmc::passes
