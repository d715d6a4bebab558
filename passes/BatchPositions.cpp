#include "passes/BatchPositions.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/ErrorHandling.h"

#include "ir/sym/Attributes.h"
#include "ir/sym/Create.h"
#include "ir/sym/RuleSupport.h"
#include "ir/sym/SymOps.h"

namespace lstmc::passes {

using sym::BatchPosition;

static int batchAxis(mlir::func::FuncOp entry, unsigned argument) {
  auto dims = entry.getArgAttrOfType<mlir::ArrayAttr>(argument, sym::kDimsAttr);
  for (auto [axis, dim] :
       llvm::enumerate(dims ? dims.getValue() : llvm::ArrayRef<mlir::Attribute>()))
    if (llvm::cast<mlir::StringAttr>(dim).getValue() == sym::kBatchDim)
      return int(axis);
  return -1;
}

/// Whether an argument has no batch axis: a scalar, or a state, whose layer determines its rows.
static bool isNoBatch(mlir::func::FuncOp entry, unsigned argument) {
  auto role = entry.getArgAttrOfType<mlir::StringAttr>(argument, sym::kRoleAttr);
  return role && (role.getValue() == "scalar" || role.getValue() == "state");
}

/// Checks a BatchRule's answer: a position that does not fit the result would make kernels read
/// other memory.
static BatchPosition fitting(mlir::OpResult result, BatchPosition position) {
  auto type = llvm::cast<mlir::RankedTensorType>(result.getType());
  if (position &&
      (position.axis >= type.getRank() || type.getDimSize(unsigned(position.axis)) !=
                                              position.outer * position.batch * position.inner))
    llvm::report_fatal_error(result.getOwner()->getName().getStringRef() +
                             " says rows of the batch that its result does not have");
  return position;
}

BatchPositions::BatchPositions(mlir::func::FuncOp entry) {
  bool named = false;
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    named |= batchAxis(entry, i) >= 0;
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    auto type = llvm::cast<mlir::RankedTensorType>(entry.getArgument(i).getType());
    int axis = named ? batchAxis(entry, i) : 0;
    if (axis < 0 || type.getRank() == 0 || isNoBatch(entry, i))
      continue;
    batch = type.getDimSize(axis);
    positions[entry.getArgument(i)] = {axis, 1, batch, 1};
  }
  entry.walk([&](mlir::Operation *op) {
    if (auto all = llvm::dyn_cast<sym::AllRowsOp>(op)) {
      positions[all] = {int(all.getAxis()), int64_t(all.getOuter()), int64_t(all.getBatch()),
                        int64_t(all.getInner())};
    } else if (auto own = llvm::dyn_cast<sym::OwnRowsOp>(op)) {
      auto outer = int64_t(own.getOuter()), inner = int64_t(own.getInner());
      int64_t extent = sym::rankedType(own).getDimSize(unsigned(own.getAxis()));
      positions[own] = {int(own.getAxis()), outer, extent / (outer * inner), inner};
    } else if (auto rule = llvm::dyn_cast<sym::BatchRule>(op)) {
      llvm::SmallVector<BatchPosition> operands;
      for (mlir::Value operand : op->getOperands())
        operands.push_back(of(operand));
      for (mlir::OpResult result : op->getResults())
        positions[result] = fitting(result, rule.batchOfResult(result.getResultNumber(), operands));
    }
  });
}

/// Nullopt if a result with readers has no rows.
static std::optional<llvm::SmallVector<BatchPosition>>
resultsOf(sym::BatchRule rule, llvm::ArrayRef<BatchPosition> operands) {
  llvm::SmallVector<BatchPosition> results;
  for (mlir::OpResult result : rule->getResults()) {
    results.push_back(rule.batchOfResult(result.getResultNumber(), operands));
    if (!results.back() && !result.use_empty())
      return std::nullopt;
  }
  return results;
}

static bool sameRows(mlir::Operation *op, llvm::ArrayRef<BatchPosition> a,
                     llvm::ArrayRef<BatchPosition> b) {
  for (auto [result, one, other] : llvm::zip_equal(op->getResults(), a, b))
    if (bool(one) != bool(other) ||
        (one && (one.batch != other.batch || sym::strideOfRows(result.getType(), one) !=
                                                 sym::strideOfRows(result.getType(), other))))
      return false;
  return true;
}

std::optional<llvm::SmallVector<BatchPosition>> rowByRow(mlir::Operation *op,
                                                         llvm::ArrayRef<BatchPosition> operands) {
  auto rule = llvm::dyn_cast<sym::BatchRule>(op);
  if (!rule || op->getNumResults() == 0)
    return std::nullopt;
  auto results = resultsOf(rule, operands);
  if (!results)
    return std::nullopt;
  llvm::SmallVector<BatchPosition> alone(operands.size());
  for (auto [position, given] : llvm::zip_equal(alone, operands)) {
    if (!given)
      continue;
    position = given;
    auto byItself = resultsOf(rule, alone);
    if (!byItself || !sameRows(op, *results, *byItself))
      return std::nullopt;
    position = BatchPosition::none();
  }
  return results;
}

mlir::RankedTensorType typeOfPart(mlir::Type whole, BatchPosition position, int64_t rows) {
  auto type = llvm::cast<mlir::RankedTensorType>(whole);
  if (!position)
    return type;
  llvm::SmallVector<int64_t> shape(type.getShape());
  shape[size_t(position.axis)] = position.outer * rows * position.inner;
  return type.clone(shape);
}

} // namespace lstmc::passes
