#include "passes/RowMarks.h"

#include <algorithm>

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/STLExtras.h"

#include "ir/sym/Attributes.h"
#include "ir/sym/Create.h"
#include "ir/sym/RuleSupport.h"
#include "ir/sym/SymOps.h"

namespace lstmc::passes {

using mlir::Operation;
using mlir::Value;
using sym::BatchPosition;

void sayExtents(Operation *op) {
  auto rule = llvm::dyn_cast<sym::ExtentsRule>(op);
  if (!rule || op->getNumResults() != 1)
    return;
  {
    mlir::ScopedDiagnosticHandler quiet(op->getContext(),
                                        [](mlir::Diagnostic &) { return mlir::success(); });
    if (succeeded(op->getName().verifyInvariants(op)))
      return; // the attribute is relative to the operand
  }
  op->setAttr(rule.extentsAttribute(),
              mlir::Builder(op).getDenseI64ArrayAttr(sym::rankedType(op->getResult(0)).getShape()));
}

template <typename PartOp>
static PartOp create(mlir::OpBuilder &builder, Value value, BatchPosition at) {
  auto number = [&](int64_t n) { return builder.getI64IntegerAttr(n); };
  return builder.create<PartOp>(value.getLoc(), value.getType(), value, number(at.axis),
                                number(at.outer), number(at.batch), number(at.inner));
}

Value createOwnRows(mlir::OpBuilder &builder, Value value, BatchPosition at) {
  return create<sym::OwnRowsOp>(builder, value, at);
}

RowMarks::RowMarks(mlir::func::FuncOp net, llvm::ArrayRef<int64_t> partRows)
    : rows(partRows.begin(), partRows.end()) {
  llvm::sort(rows);
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  BatchPositions positions(net);
  batch = positions.size();
  for (Value argument : net.getArguments())
    if (BatchPosition position = positions.of(argument))
      marks[argument] = position;
  for (Operation &op : llvm::make_early_inc_range(net.front().without_terminator()))
    mark(&op, positions);
}

void RowMarks::mark(Operation *op, const BatchPositions &positions) {
  llvm::SmallVector<BatchPosition> operands;
  for (Value operand : op->getOperands())
    operands.push_back(of(operand));
  bool any = llvm::any_of(operands, [](BatchPosition position) { return bool(position); });
  if (any)
    matchOperands(op, operands);
  auto results = rowByRow(op, operands);
  if (!results || !fits(op, operands, *results)) {
    if (any)
      gather(op, positions);
    return;
  }
  for (auto [operand, position] : llvm::zip_equal(op->getOpOperands(), operands))
    if (position && !of(operand.get()) && !becomesRows(operand, position)) {
      mlir::OpBuilder builder(op);
      operand.set(createOwnRows(builder, operand.get(), position));
      marks[operand.get()] = position;
    }
  for (auto [result, position] : llvm::zip_equal(op->getResults(), *results))
    if (position)
      marks[result] = position;
}

/// The op runs on the whole batch. Each of its operands is gathered for it alone, so that gradients
/// are added in the order of the net as written. A loss head remains the result of the net.
void RowMarks::gather(Operation *op, const BatchPositions &positions) {
  mlir::OpBuilder builder(op);
  llvm::DenseMap<Value, Value> gathered;
  for (mlir::OpOperand &operand : op->getOpOperands())
    if (BatchPosition position = of(operand.get())) {
      Value &all = gathered[operand.get()];
      if (!all)
        all = create<sym::AllRowsOp>(builder, operand.get(), position);
      operand.set(all);
    }
  builder.setInsertionPointAfter(op);
  for (mlir::OpResult result : op->getResults())
    if (BatchPosition position = positions.of(result);
        position && !result.use_empty() && !llvm::isa<sym::LossHead>(op)) {
      Value own = createOwnRows(builder, result, position);
      result.replaceAllUsesExcept(own, own.getDefiningOp());
      marks[own] = position;
    }
}

/// Extracts a part's rows of operands that hold the whole batch, if the op needs them: operands
/// that alone would lead to the same rows of the results.
void RowMarks::matchOperands(Operation *op, llvm::MutableArrayRef<BatchPosition> operands) {
  auto wanted = rowByRow(op, operands);
  if (!wanted)
    return;
  for (auto [operand, position] : llvm::zip_equal(op->getOperands(), operands)) {
    if (position)
      continue;
    llvm::SmallVector<BatchPosition> candidates;
    for (auto [other, known] : llvm::zip_equal(op->getOperands(), operands))
      if (known && other.getType() == operand.getType())
        candidates.push_back(known);
    for (auto [axis, extent] : llvm::enumerate(sym::rankedType(operand).getShape()))
      if (extent == batch)
        candidates.push_back({int(axis), 1, batch, 1});
    for (BatchPosition candidate : candidates) {
      position = candidate;
      if (rowByRow(op, operands))
        break;
      position = BatchPosition::none();
    }
  }
}

/// Whether the op that defines an operand, with this as its only use, can produce fewer rows
/// instead: zeros whose extents were inferred.
bool RowMarks::becomesRows(mlir::OpOperand &operand, BatchPosition position) {
  Value value = operand.get();
  Operation *maker = value.getDefiningOp();
  if (!maker || maker->getNumOperands() > 0 || maker->getNumResults() != 1 || !value.hasOneUse())
    return false;
  maker->setAttr(sym::kBatchAtAttr, mlir::Builder(maker).getDenseI64ArrayAttr(
                                        {position.axis, position.outer, position.inner}));
  auto results = rowByRow(maker, {});
  if (results && results->front() == position && fits(maker, {}, *results)) {
    marks[value] = position;
    return true;
  }
  maker->removeAttr(sym::kBatchAtAttr);
  return false;
}

/// Whether the op verifies with the types of each part.
bool RowMarks::fits(Operation *op, llvm::ArrayRef<BatchPosition> operands,
                    llvm::ArrayRef<BatchPosition> results) {
  mlir::ScopedDiagnosticHandler quiet(op->getContext(),
                                      [](mlir::Diagnostic &) { return mlir::success(); });
  for (int64_t some : rows) {
    mlir::Block scratch;
    mlir::OpBuilder builder(op->getContext());
    builder.setInsertionPointToEnd(&scratch);
    Operation *copy = builder.clone(*op);
    for (auto [operand, position] : llvm::zip_equal(copy->getOpOperands(), operands))
      operand.set(
          scratch.addArgument(typeOfPart(operand.get().getType(), position, some), op->getLoc()));
    for (auto [result, position] : llvm::zip_equal(copy->getResults(), results))
      result.setType(typeOfPart(result.getType(), position, some));
    sayExtents(copy);
    if (failed(copy->getName().verifyInvariants(copy)))
      return false;
  }
  return true;
}

} // namespace lstmc::passes
